import type { FastifyReply, FastifyRequest } from 'fastify';

/** Answers a failed login: with a page if a browser expects one, otherwise with the error. */
export type OnFailedLogin = (request: FastifyRequest, reply: FastifyReply, error: unknown) => FastifyReply;
