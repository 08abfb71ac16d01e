const slugOf = (id: string): string => id.replace(/[^\w.-]/g, '-');

/** The anchor of a model's row in the table of /models. */
export const modelAnchor = (id: string): string => `model-${slugOf(id)}`;

/** The path of a model's page. An id may contain slashes, a path segment may not. */
export const modelPath = (id: string): string => `/models/${slugOf(id)}`;

export const isModelAt = (id: string, part: string): boolean => part === id || part === slugOf(id);
