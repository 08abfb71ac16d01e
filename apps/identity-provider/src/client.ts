/** The product's name as a client of the identity provider. */
export const PRODUCT = 'eloquentpoll';
