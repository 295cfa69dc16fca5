"""The files of this machine behind the port `Files`, in worker threads and loaded by first use."""

from threading import Event

import anyio.to_thread

from zidane_core.agent.events import AttachmentsRead, FileSeen
from zidane_core.agent.work import LookAtFile, ReadAttachments


class LocalFiles:
    """Reads only, so a thread that is cancelled is left behind: nobody waits for a dead network drive."""

    async def look(self, what: LookAtFile) -> FileSeen:
        """What the disk has where a call's path leads."""
        from zidane_acp.tools.looking import look_at_file

        return await anyio.to_thread.run_sync(look_at_file, what.call, abandon_on_cancel=True)

    async def attach(self, what: ReadAttachments) -> AttachmentsRead:
        """The files that a prompt names, and its pictures; a thread that is left behind ends with the next file."""
        from zidane_acp.tools.attachments import read_attachments

        stop = Event()
        try:
            return await anyio.to_thread.run_sync(read_attachments, what, stop.is_set, abandon_on_cancel=True)
        finally:
            stop.set()
