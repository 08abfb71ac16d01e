/** Of every page; in the light and in the dark. */
export const STYLE = `:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --accent: #3457d5; }
@media (prefers-color-scheme: dark) { :root { --accent: #9fb4ff; } }
* { box-sizing: border-box; }
body { font: 1.05rem/1.6 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
header, footer { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: baseline; }
header { padding-bottom: 1rem; border-bottom: 1px solid var(--line); }
header strong { margin-right: auto; font-size: 1.15rem; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: .9rem; }
h1 { font-size: clamp(1.7rem, 5vw, 2.4rem); line-height: 1.2; margin: 2rem 0 1rem; text-wrap: balance; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; }
a { color: var(--accent); }
pre { overflow-x: auto; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; font-size: .85rem; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
th, td { text-align: left; padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
dt { font-weight: 600; margin-top: .75rem; }
dd { margin: 0; }
a:focus-visible, pre:focus-visible, .scroll:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; }
`;
