import type { FastifyReply, FastifyRequest } from 'fastify';

/** How a login that failed is answered: with a page where a browser waits for one, with the error elsewhere. */
export type OnFailedLogin = (request: FastifyRequest, reply: FastifyReply, error: unknown) => FastifyReply;
