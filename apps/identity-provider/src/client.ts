/** The product's client id at the identity provider. */
export const PRODUCT = 'eloquentpoll';
