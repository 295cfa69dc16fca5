"""The models that can be chosen are others now (ring 2): a key was found, or is gone."""

from msgspec.structs import replace

from zidane_core.agent import settings, table
from zidane_core.agent.effects import Effect, OptionsShown, Tell
from zidane_core.agent.events import ModelsChanged
from zidane_core.agent.state import Agent, Options, Thread


def changed(agent: Agent, event: ModelsChanged) -> tuple[Agent, tuple[Effect, ...]]:
    """Every thread has a model that is there; a client is told where its list or its model is another one."""
    before = agent.options
    options = replace(before, models=event.models, default_model=event.default)
    if options == before:
        return agent, ()
    agent = replace(agent, options=options)
    effects: tuple[Effect, ...] = ()
    for thread in sorted(table.every(agent), key=lambda one: one.id):
        moved = _moved(before, options, thread)
        agent = agent if moved is thread else table.put(agent, moved)
        if moved.phase == "open" and settings.offered(options, moved) != settings.offered(before, thread):
            effects = (*effects, Tell(moved.id, OptionsShown()))
    return agent, effects


def _moved(before: Options, options: Options, thread: Thread) -> Thread:
    """The thread with a model that is there. One that nobody chose follows the default until it was used."""
    model = thread.settings.model
    there = any(known.value == model for known in options.models)
    if thread.settings.chosen and not there:
        return settings.gone(thread, model, options.default_model)
    follows = model == before.default_model and not thread.settings.chosen and not thread.turns
    if there and not follows:
        return thread
    return replace(thread, settings=replace(thread.settings, model=options.default_model))
