/** A tally with a winner. */
export const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="EloquentPoll">
<rect width="64" height="64" rx="14" fill="#3457d5"/>
<rect x="12" y="30" width="10" height="20" rx="2" fill="#fff" opacity=".55"/>
<rect x="27" y="14" width="10" height="36" rx="2" fill="#fff"/>
<rect x="42" y="38" width="10" height="12" rx="2" fill="#fff" opacity=".55"/>
</svg>
`;
