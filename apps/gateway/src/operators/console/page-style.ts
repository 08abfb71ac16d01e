/** The console's own style, because it loads no files: the colours of the other pages, light and dark. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #faf9f6; --surface: #fff; --text: #1c1e24; --muted: #5a5f6b; --line: #e4e2db; --edge: #8b8f99;
  --accent: #3350c8; --on-accent: #fff; --bad: #a8262d; --bad-soft: #fbe6e5; --good: #17683f; --good-soft: #e2f2e8 }
@media (prefers-color-scheme: dark) { :root { --ground: #111318; --surface: #191c23; --text: #e9eaef; --muted: #a2a8b6; --line: #2b2f39;
  --edge: #747b8b; --accent: #9fb2ff; --on-accent: #0c0e12; --bad: #ff9c98; --bad-soft: #3a1a1c; --good: #8fd6ac; --good-soft: #12301f } }
* { box-sizing: border-box }
body { background: var(--ground); color: var(--text); font: 15px/1.5 ui-sans-serif, system-ui, sans-serif; margin: 0 }
header { background: var(--surface); border-bottom: 1px solid var(--line); padding: .75rem 1.25rem; font-weight: 600 }
header span { color: var(--muted); font-weight: 400 }
main { max-width: 76rem; margin: 0 auto; padding: 1.25rem }
h1 { font-size: 1.6rem; margin: .5rem 0 1rem } h2 { font-size: 1.1rem; margin: 0 0 .5rem }
a { color: var(--accent) }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .75rem; margin: 0 0 1.5rem }
dl div { background: var(--surface); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem }
dt { color: var(--muted); font-size: .85rem } dd { font-size: 1.1rem; font-weight: 600; margin: 0; font-variant-numeric: tabular-nums }
dl div:has(.bad) { background: var(--bad-soft); border-color: var(--bad) } .bad { color: var(--bad); font-weight: 600 }
[role=status] { background: var(--good-soft); color: var(--good); border-radius: .5rem; padding: .6rem .9rem }
.panel { background: var(--surface); border: 1px solid var(--line); border-radius: .75rem; padding: 1rem 1.25rem; margin: 0 0 1.25rem }
.scroll { overflow-x: auto } time { white-space: nowrap } :is(dt, th)::first-letter { text-transform: uppercase }
.actions { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1.25rem; margin-bottom: 1.25rem } .actions .panel { margin: 0 }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top } th { color: var(--muted); font-weight: 600 }
td.n { font-variant-numeric: tabular-nums } .none { color: var(--muted) }
form { display: inline-flex; flex-wrap: wrap; gap: .4rem; align-items: center } section.panel > form { display: flex; padding: .6rem 0; border-top: 1px solid var(--line) } section.panel > form input { flex: 1 1 8rem }
input { font: inherit; width: 9rem; min-height: 2rem; padding: .15rem .5rem; border: 1px solid var(--edge); border-radius: .4rem; background: var(--ground); color: inherit }
button { font: inherit; font-weight: 600; min-height: 2rem; padding: .15rem .8rem; border: 0; border-radius: .4rem; background: var(--accent); color: var(--on-accent); cursor: pointer }
button.grave { background: none; color: var(--bad); border: 1px solid }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }`;
