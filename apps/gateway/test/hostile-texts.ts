import fc from 'fast-check';

// Texts as somebody would write them who wants more than to ask: markup, attributes, addresses, ends of scripts, marks
// that turn the direction, syntax of diagrams and templates, and words without an end. Each calls __ran if it ever runs.

const RUN = '__ran()';

const WHOLE = [
  `<script>${RUN}</script>`,
  `</script><script>${RUN}</script>`,
  `<img src=x onerror=${RUN}>`,
  `<svg onload=${RUN}>`,
  `<svg><animate onbegin=${RUN} attributeName=x dur=1s>`,
  `"><body onload="${RUN}">`,
  `' autofocus onfocus='${RUN}' x='`,
  `" style="position:fixed;inset:0;background:red" x="`,
  `<a href="javascript:${RUN}">click</a>`,
  `javascript:${RUN}//`,
  `data:text/html,<script>parent.${RUN}</script>`,
  `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `<iframe src="javascript:parent.${RUN}">`,
  `<meta http-equiv="refresh" content="0;url=javascript:${RUN}">`,
  `<base href="https://elsewhere.example/">`,
  `<link rel=stylesheet href=//elsewhere.example/x.css>`,
  `<style>*{display:none}@import '//elsewhere.example/x.css'</style>`,
  `<form action=//elsewhere.example><button>Ask the models</button></form>`,
  `<textarea></textarea><script>${RUN}</script>`,
  `</textarea><script>${RUN}</script>`,
  `</title><script>${RUN}</script>`,
  `--><script>${RUN}</script><!--`,
  `]]><script>${RUN}</script>`,
  `<math><mtext></p><style><!--</style><img src=x onerror=${RUN}>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<template><script>${RUN}</script></template>`,
  `<plaintext>`,
  `<!--`,
  `<x contenteditable onblur=${RUN}>`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `&#60;img src=x onerror=${RUN}&#62;`,
  `{{constructor.constructor('${RUN}')()}}`,
  `\${${RUN}}`,
  `%%{init: {"securityLevel":"loose"}}%%`,
  `"]; click q call ${RUN}; x["`,
  `end\n  click m0 href "javascript:${RUN}"`,
  `$$\\href{javascript:${RUN}}{x}$$`,
  `\u202e\u2066<script>${RUN}</script>\u2069 gnp.exe`,
  `\u200f\u202bשלום ${RUN}\u202c`,
  `مرحبا <b onclick=${RUN}>`,
  `z${'\u0301\u0489\u20dd'.repeat(20)}`,
  `__proto__`,
  `constructor`,
  `\u2028\u2029<script>${RUN}</script>`,
  `﷽`.repeat(20),
  '👩‍👩‍👧‍👦'.repeat(12),
  'W'.repeat(180),
  `https://elsewhere.example/${'a'.repeat(160)}`,
];

const CUT = /(?=[<>"'`=/&;:])/;
const PIECES = WHOLE.flatMap((text) => text.split(CUT)).filter((piece) => piece !== '');

/** The known ones, and what can be put together from their pieces. */
const hostile = fc.oneof(
  fc.constantFrom(...WHOLE),
  fc.array(fc.constantFrom(...PIECES), { minLength: 2, maxLength: 9 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
);

/** This many of them, always the same for a seed, each at most as long as an option may be. */
export const hostileTexts = (count: number, seed: number): string[] =>
  fc
    .sample(hostile, { numRuns: count, seed })
    .map((text) => [...text].slice(0, 190).join('').toWellFormed().replaceAll('\0', ''));
