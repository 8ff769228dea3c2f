// Pages behind links that need no key: the token of a link is the permission. GET and HEAD render
// the page and change nothing, as mail scanners follow links. POST makes the change and renders the
// page again, without cookie or redirect (RFC 8058 3.2). daemon/tracking/serve.ts lists the pages.
import type { IncomingHttpHeaders } from 'node:http';
import type { App } from '../app.ts';
import { brokenLink, type PageLook, recipientPageHeaders } from './recipient-page.ts';

/** A request for a link, with the body that the HTTP server has read. */
export interface LinkRequest {
  method: string;
  /** Requested path; a query is ignored. */
  path: string;
  headers: IncomingHttpHeaders;
  remoteAddress: string | null;
  /**
   * Organization of the requested tracking host, on which only links of that organization work;
   * null on a host for all organizations.
   */
  organizationId?: string | null;
  body?: Buffer;
}

export interface LinkAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** Content of a token. */
interface LinkTarget {
  /** Organization of the link; null for a link that no tracking host of an organization serves. */
  organizationId: string | null;
}

interface DrawnPage {
  status: number;
  look: PageLook;
  html: string;
}

/** The rules of a page. `Change` is the result of a form. */
interface LinkPageRules<Target extends LinkTarget, Change> {
  /** Path before the token. */
  path: `/${string}/`;
  /** Reads a token of at most 2,000 characters; null for a foreign or cut token. */
  find(app: App, token: string): Target | null;
  /** Renders the page; without `change` nothing was changed. */
  draw(app: App, target: Target, change?: Change): Promise<DrawnPage>;
  /**
   * Makes the change that a form asks for. Null for a form without a known change: answered with
   * 400.
   */
  act(app: App, target: Target, form: FormData): Promise<Change | null>;
}

export interface LinkPage {
  path: string;
  /**
   * Answers paths below `path`; returns null elsewhere. @throws CapacityError if nothing can be
   * written.
   */
  serve(app: App, request: LinkRequest): Promise<LinkAnswer | null>;
}

const methods: readonly string[] = ['GET', 'HEAD', 'POST'];
const urlEncoded = 'application/x-www-form-urlencoded';

/** Returns the page with these rules. */
export function linkPage<Target extends LinkTarget, Change>(
  rules: LinkPageRules<Target, Change>,
): LinkPage {
  const { path: prefix, find, draw, act } = rules;
  return {
    path: prefix,
    async serve(app, request) {
      const { method, path, organizationId = null } = request;
      if (!path.startsWith(prefix)) return null;
      const token = /^([^/?#]{1,2000})(?:[?#].*)?$/.exec(path.slice(prefix.length))?.[1];
      if (token === undefined || !methods.includes(method)) return brokenLink;
      const target = find(app, token);
      const isHere = organizationId === null || target?.organizationId === organizationId;
      if (!target || !isHere) return brokenLink;
      if (method !== 'POST') return answerOf(await draw(app, target), method);
      const form = await formOf(request);
      const change = form && (await act(app, target, form));
      if (change === null) return answerOf({ ...(await draw(app, target)), status: 400 }, method);
      return answerOf(await draw(app, target, change), method);
    },
  };
}

function answerOf({ status, look, html }: DrawnPage, method: string): LinkAnswer {
  const body = Buffer.from(method === 'HEAD' ? '' : html);
  return { status, headers: recipientPageHeaders(look), body };
}

/**
 * Reads a form; null for a body that is not a form. Both encodings of browsers are allowed (RFC
 * 8058 3.2). Some mail programs add a line end to the body, which is dropped.
 */
async function formOf({ headers, body }: LinkRequest): Promise<FormData | null> {
  const type = headers['content-type'] ?? urlEncoded;
  const isUrlEncoded = type.trimStart().toLowerCase().startsWith(urlEncoded);
  const bytes = body ? new Uint8Array(isUrlEncoded ? withoutLineEnd(body) : body) : '';
  const answer = new Response(bytes, { headers: { 'content-type': type } });
  return answer.formData().catch(() => null);
}

function withoutLineEnd(body: Buffer): Buffer {
  let end = body.length;
  while (end > 0 && [0x0a, 0x0d].includes(body[end - 1] ?? 0)) end -= 1;
  return body.subarray(0, end);
}
