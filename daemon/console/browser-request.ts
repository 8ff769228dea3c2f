// Parts of a request by a browser: cookies, query, and the token of a form.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { meant } from '../../src/platform/runtime/signs.ts';
import type { Form } from './page.ts';

export const cookieName = 'svc_console';
/** Cookie beside the token of the sign-in form, when no session exists yet. */
export const formCookie = 'svc_console_form';
const longestToken = 200;

/** Returns the values of a query. Of a repeated name the last value counts. */
export function meantIn(query: unknown): Form {
  const given = Object.entries(query as Record<string, string | string[]>);
  return Object.fromEntries(
    given.map(([name, value]) => [name, meant([value].flat().at(-1) ?? '')]),
  );
}

export function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

export function cookieIn({ headers }: FastifyRequest, name = cookieName): string | null {
  const cookies = (headers.cookie ?? '').split(/; */).map((one) => one.split('='));
  const token = cookies.find(([own]) => own === name)?.[1] ?? '';
  return /^[\w-]+$/.test(token) && token.length <= longestToken ? token : null;
}

/** Returns the token for forms, derived from the token of a cookie. */
export function formTokenOf(token: string): string {
  return createHmac('sha256', token).update('form').digest('base64url');
}

export function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
