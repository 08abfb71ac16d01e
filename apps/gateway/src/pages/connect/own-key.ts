import { type Html, html } from '../html.ts';

/** Stands for the key in samples. */
export const PLACEHOLDER = 'YOUR_API_KEY';

/** A field whose text the page puts into its samples. It needs scripts, so it is hidden without them. */
export const ownKey = (): Html => html`<div id="own-key" class="card stack" hidden>
<p class="field"><label for="own-key-field">Your API key, for the samples on this page</label>
<input id="own-key-field" class="mono" type="password" autocomplete="off" spellcheck="false" placeholder="ep_k_…" aria-describedby="own-key-note"></p>
<p id="own-key-note" class="muted small" role="status">It is not stored, and is forgotten when you leave the page. Keys are on the <a href="/dashboard/keys">dashboard</a>.</p>
</div>`;
