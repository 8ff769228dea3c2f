// The page in place of a page that failed: a store in trouble, no capacity, or a fault of ours.
import type { FastifyRequest } from 'fastify';
import { CapacityError } from '../../src/platform/errors.ts';
import { errorHeaders, reported } from '../http/errors.ts';
import type { Answer } from './answers.ts';
import { Refusal } from './api.ts';
import { html } from './html.ts';
import { problemOf } from './refused.ts';
import { plainAnswer, type Site } from './site.ts';

/** Answers with the problem, with advice on a posted form, or with a link to try again. */
export function inTrouble(site: Site, request: FastifyRequest, error: unknown): Answer {
  const { id, method, url, routeOptions } = request;
  const failed = { requestId: id, method, route: routeOptions.url };
  const cause = error instanceof Refusal ? new CapacityError(error.message, 1) : error;
  const refusal = reported(site.app, cause, failed);
  const { status } = refusal;
  const isPost = method === 'POST';
  const body = html`${problemOf(refusal)}
    ${isPost && html`<p>Your browser still has what you typed: go back. Look whether it was done before you send it again.</p>`}
    ${!isPost && html`<p><a href=${url}>Try again</a></p>`}
    <p class="note">${status}, request <code>${id}</code>. It stands in the log, and "svc doctor" examines the service.</p>`;
  const title = status === 503 ? 'Not now' : 'That did not work';
  return plainAnswer(site, status, { title, body }, errorHeaders(refusal));
}
