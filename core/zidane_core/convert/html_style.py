"""The style of a page: light and dark by the reader's choice, one column, narrow screens and paper too."""

from typing import Final

COLOURS: Final = """\
:root {
  color-scheme: light dark;
  --back: #fbfbf9; --card: #ffffff; --sunk: #f3f3ef; --line: #e1e0da; --text: #23231f; --dim: #6c6b64;
  --accent: #2f5fa8; --prompt: #eaf0f9; --prompt-line: #c9d8ee;
  --good: #24743f; --bad: #b3261e; --warn: #8a5a00;
  --new: #e3f4e6; --new-text: #14532b; --gone: #fce8e6; --gone-text: #7d1a14; --hunk: #eef2f8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #17181a; --card: #1e2023; --sunk: #141517; --line: #34373c; --text: #dfe0dc; --dim: #9b9c97;
    --accent: #8fb6f0; --prompt: #1f2a3a; --prompt-line: #33475f;
    --good: #74c78c; --bad: #f28b82; --warn: #e0b25a;
    --new: #16301f; --new-text: #b5e6c3; --gone: #3a1d1c; --gone-text: #f5c0bb; --hunk: #222a35;
  }
}
"""

TEXT: Final = """\
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 2.5rem 1.5rem 5rem; max-width: 54rem; background: var(--back); color: var(--text);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: anywhere;
}
h1, h2, h3, h4, h5, h6 { line-height: 1.3; text-wrap: balance; }
header { border-bottom: 1px solid var(--line); margin-bottom: 2rem; padding-bottom: 1.25rem; }
header h1 { font-size: 1.65rem; margin: 0 0 .6rem; }
header dl { display: flex; flex-wrap: wrap; gap: .15rem 1.5rem; margin: 0; font-size: .875rem; }
header dl div { display: flex; gap: .5rem; }
header dt { color: var(--dim); }
header dd { margin: 0; }
a { color: var(--accent); text-underline-offset: .15em; }
pre, code, .diff, .places, dt, .title { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
header dt { font-family: inherit; }
.md > :first-child { margin-top: 0; }
.md > :last-child { margin-bottom: 0; }
.md h1 { font-size: 1.35rem; } .md h2 { font-size: 1.2rem; } .md h3, .md h4, .md h5, .md h6 { font-size: 1.05rem; }
.md h1, .md h2, .md h3, .md h4, .md h5, .md h6 { margin: 1.6em 0 .5em; }
.md p, .md ul, .md ol, .md blockquote, .md table, .md pre { margin: .8em 0; }
.md ul, .md ol { padding-left: 1.5rem; }
.md li { margin: .2em 0; }
.md blockquote { border-left: 3px solid var(--line); color: var(--dim); margin-left: 0; padding-left: 1rem; }
.md code { background: var(--sunk); border-radius: 4px; font-size: .875em; padding: .12em .35em; }
.md pre code { background: none; font-size: inherit; padding: 0; }
.md table { border-collapse: collapse; display: block; overflow-x: auto; }
.md th, .md td { border: 1px solid var(--line); padding: .35rem .7rem; text-align: left; vertical-align: top; }
.md th { background: var(--sunk); }
.md hr { border: 0; border-top: 1px solid var(--line); margin: 1.5em 0; }
pre {
  background: var(--sunk); border: 1px solid var(--line); border-radius: 6px; font-size: .8125rem; line-height: 1.5;
  margin: .6rem 0; max-height: 32rem; overflow: auto; padding: .7rem .9rem; tab-size: 4; white-space: pre-wrap;
}
"""

PARTS: Final = """\
main > * { margin: 1.1rem 0; }
section h2 { color: var(--dim); font-size: .75rem; font-weight: 600; letter-spacing: .05em; margin: 0 0 .4rem; text-transform: uppercase; }
.prompt { background: var(--prompt); border: 1px solid var(--prompt-line); border-radius: 10px; padding: .9rem 1.15rem 1rem; }
.prompt h2 { color: var(--accent); }
.prompt .md + *, .prompt * + .md { margin-top: .8rem; }
.prompt .md code, .prompt pre { background: var(--card); }
.md.answer h2 { color: inherit; font-size: 1.2rem; letter-spacing: 0; margin: 1.6em 0 .5em; text-transform: none; }
.picture { margin: .6rem 0; } .picture img { border: 1px solid var(--line); border-radius: 6px; display: block; height: auto; max-width: 100%; }
.named { color: var(--dim); font-size: .875rem; margin: .5rem 0; }
summary { cursor: pointer; }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.thought { color: var(--dim); font-size: .9rem; }
.thought > .md { border-left: 3px solid var(--line); margin-top: .5rem; padding-left: 1rem; }
.plan { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .8rem 1.15rem; }
.plan h2 span { font-weight: 400; letter-spacing: 0; margin-left: .4rem; text-transform: none; }
.plan ul { list-style: none; margin: 0; padding: 0; }
.plan li { display: flex; gap: .6rem; padding: .12rem 0; }
.plan .box {
  border: 1.5px solid var(--dim); border-radius: 4px; flex: none; font-size: .75rem; height: 1.1rem; line-height: 1rem;
  margin-top: .28rem; text-align: center; width: 1.1rem;
}
.plan .pending .box { color: transparent; }
.plan .completed .box { background: var(--good); border-color: var(--good); color: var(--card); }
.plan .completed .step { color: var(--dim); text-decoration: line-through; text-decoration-color: var(--line); }
.plan .in_progress .box { border-color: var(--accent); color: var(--accent); }
.plan .in_progress .step { font-weight: 600; }
.notice { border-left: 3px solid var(--dim); color: var(--dim); font-size: .9rem; padding-left: .9rem; white-space: pre-line; }
.notice.warning { border-color: var(--warn); color: var(--warn); }
.notice.error { border-color: var(--bad); color: var(--bad); }
.notice.damaged { border-left-style: dashed; }
header .notice { margin: .9rem 0 0; }
.end { align-items: center; color: var(--dim); display: flex; font-size: .8rem; gap: .8rem; margin: 1.8rem 0; }
.end::before, .end::after { background: var(--line); content: ""; flex: 1; height: 1px; min-width: 1rem; }
.end:empty { gap: 0; }
.end.failed span { color: var(--bad); }
.hidden { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; white-space: nowrap; width: 1px; }
"""

CARDS: Final = """\
.card { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--dim); border-radius: 8px; }
.card.completed { border-left-color: var(--good); }
.card.failed { border-left-color: var(--bad); }
.card.interrupted { border-left-color: var(--warn); }
.card > summary, .card > .summary { align-items: baseline; display: flex; gap: .6rem; list-style: none; padding: .5rem .9rem; }
.card > summary::-webkit-details-marker { display: none; }
.card > summary::after { color: var(--dim); content: "▸"; font-size: .8rem; }
.card[open] > summary::after { content: "▾"; }
.card[open] > summary { border-bottom: 1px solid var(--line); }
.card .mark { font-weight: 700; }
.completed > * > .mark { color: var(--good); }
.failed > * > .mark, .failed > * > .state { color: var(--bad); }
.interrupted > * > .mark, .interrupted > * > .state { color: var(--warn); }
.card .kind {
  background: var(--sunk); border: 1px solid var(--line); border-radius: 99px; color: var(--dim); flex: none;
  font-size: .7rem; line-height: 1.4; padding: 0 .55rem;
}
.card .title { flex: 1; font-size: .85rem; min-width: 0; }
.card .counts { flex: none; font-size: .8rem; white-space: nowrap; }
.card .counts .new { color: var(--good); } .card .counts .gone { color: var(--bad); }
.card .state { color: var(--dim); flex: none; font-size: .75rem; }
.card .body { padding: .4rem .9rem .7rem; }
.card .places { color: var(--dim); font-size: .8rem; list-style: none; margin: .4rem 0; padding: 0; }
.card .input, .file { color: var(--dim); font-size: .85rem; margin: .6rem 0 .2rem; }
.card .input dl { display: grid; gap: .3rem .9rem; grid-template-columns: fit-content(30%) 1fr; margin: .5rem 0 0; }
.card .input dt { font-size: .8rem; padding-top: .2rem; } .card .input dd { margin: 0; min-width: 0; }
.card .input pre { margin: 0; padding: .2rem .6rem; }
.diff { border: 1px solid var(--line); border-radius: 6px; margin: .6rem 0; overflow: hidden; }
.diff figcaption { background: var(--sunk); border-bottom: 1px solid var(--line); color: var(--dim); font-size: .8rem; padding: .3rem .7rem; }
.diff table { border-collapse: collapse; font-size: .8125rem; line-height: 1.5; width: 100%; }
.diff td { padding: 0 .4rem; vertical-align: top; }
.diff .n { color: var(--dim); min-width: 2.4rem; opacity: .75; text-align: right; user-select: none; white-space: nowrap; width: 1%; }
.diff .sign { user-select: none; width: 1%; }
.diff .code { padding-left: 0; tab-size: 4; white-space: pre-wrap; }
.diff .new td { background: var(--new); color: var(--new-text); }
.diff .gone td { background: var(--gone); color: var(--gone-text); }
.diff .hunk td { background: var(--hunk); color: var(--dim); padding: .1rem .7rem; }
"""

SCREENS: Final = """\
@media (max-width: 36rem) {
  body { padding: 1.25rem .9rem 3rem; font-size: .975rem; }
  header h1 { font-size: 1.35rem; }
  header dl { flex-direction: column; }
  .card > summary, .card > .summary { flex-wrap: wrap; gap: .2rem .5rem; padding: .5rem .7rem; }
  .card .title { flex: 1 1 100%; order: 9; }
  .card .state { margin-left: auto; }
  .card .body { padding: .3rem .6rem .5rem; }
  .card .input dl { grid-template-columns: 1fr; gap: .1rem; }
  .diff td { padding: 0 .25rem; }
  .diff .n { min-width: 1.6rem; }
  .diff .n:first-child { display: none; }
}
@media print {
  body { max-width: none; padding: 0; }
  pre { max-height: none; }
  .card, .prompt, .plan { break-inside: avoid-page; }
}
"""

STYLE: Final = COLOURS + TEXT + PARTS + CARDS + SCREENS
