const slugOf = (id: string): string => id.replace(/[^\w.-]/g, '-');

/** Of a model's row in the table of /models. */
export const modelAnchor = (id: string): string => `model-${slugOf(id)}`;

/** Of its page: an id may have slashes, an address of one part has none. */
export const modelPath = (id: string): string => `/models/${slugOf(id)}`;

export const isModelAt = (id: string, part: string): boolean => part === id || part === slugOf(id);
