/** Of a model's row in the table of /models. */
export const modelAnchor = (id: string): string => `model-${id.replace(/[^\w.-]/g, '-')}`;
