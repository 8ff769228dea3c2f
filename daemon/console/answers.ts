// Answers of the console: the header fields of every answer, and the form of redirects, saved files
// and refusals.
import type { Download, Refusal } from './api.ts';
import { html } from './html.ts';
import type { View } from './page.ts';
import { problemOf } from './refused.ts';

export interface Answer {
  status: number;
  body: string | Buffer;
  headers?: Record<string, string | string[]>;
}

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const commonHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
};

/** Redirects to a path of ours. Encodes it as a browser does: without line breaks, in ASCII. */
export function seeOther(to: string, headers: Answer['headers'] = {}): Answer {
  const { pathname, search, hash } = new URL(to, 'http://console.invalid');
  return { status: 303, body: '', headers: { ...headers, location: pathname + search + hash } };
}

/**
 * Answers with an untrusted file, to save or to show in a frame of ours. Scripts in it never run.
 */
export function saved({ bytes, contentType, disposition }: Download): Answer {
  const headers = {
    'content-type': contentType,
    'content-disposition': disposition,
    'content-security-policy': `sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'`,
    'x-frame-options': 'SAMEORIGIN',
  };
  return { status: 200, body: bytes, headers };
}

/** Answers a request of the console's own script with JSON. */
export function jsonAnswer(status: number, body: object): Answer {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return { status, body: JSON.stringify(body), headers };
}

export function refusalView(refusal: Refusal): View {
  const { status, tag, requestId } = refusal;
  return {
    status,
    title: status === 404 ? 'Not found' : 'That did not work',
    body: html`${problemOf(refusal)}
      <p class="note">${tag} (${status})${requestId !== '' && html`, request <code>${requestId}</code>`}</p>`,
  };
}
