// The parts that all answers of the console share, the pages without the navigation, and the forms
// of visitors without a session.
import type { FastifyRequest } from 'fastify';
import type { Authenticator } from '../../src/access/keys/authenticator.ts';
import type { App } from '../../src/core/app.ts';
import { withoutSigns } from '../../src/platform/runtime/signs.ts';
import type { FailedLogins } from '../failed-logins.ts';
import type { Ask } from '../http/faces.ts';
import type { Workload } from '../http/workload.ts';
import { readForm } from '../tracking/form.ts';
import type { Answer } from './answers.ts';
import type { Assets } from './assets.ts';
import { type Cookies, formTokenOf, isSame } from './browser-request.ts';
import { html, type Part } from './html.ts';
import { drawPlain } from './layout.ts';
import type { Form } from './page.ts';

/** Most bytes of a posted form: a template file fits, even with each byte escaped as `%XX`. */
export const mostFormBytes = 2 * 1024 * 1024;

export interface ConsoleParts {
  app: App;
  authenticator: Pick<Authenticator, 'authenticate' | 'authenticateHash'>;
  ask: Ask;
  /** Capacity for the look-up of sessions; `ask` takes a separate part of it. */
  workload: Workload;
}

export interface Site extends ConsoleParts {
  assets: Assets;
  cookies: Cookies;
  /** Failed sign-ins with a pasted key, by the address of the visitor. */
  failures: FailedLogins;
}

/** Answers a request without a session. `params` are the values of `:name` in its path. */
export type Door = (
  site: Site,
  request: FastifyRequest,
  params: Readonly<Record<string, string>>,
) => Promise<Answer>;

/** Answers with a page without the navigation. */
export function plainAnswer(
  { assets }: Pick<Site, 'assets'>,
  status: number,
  page: { title: string; body: Part; isWide?: boolean },
  headers: Answer['headers'] = {},
): Answer {
  return { status, body: drawPlain(assets.urls, page), headers };
}

/** Answers with a sentence and a link to the console. */
export function sentence(site: Site, status: number, title: string, text: string): Answer {
  const body = html`<p>${text}</p><p><a href="/console">Go to the console</a></p>`;
  return plainAnswer(site, status, { title, body });
}

/**
 * Returns the fields of a posted form; null for a form that is too large or too slow. Strangers
 * reach pages without a session, so their forms are small.
 */
export async function readFields(
  { app }: Pick<Site, 'app'>,
  request: FastifyRequest,
  mostBytes?: number,
): Promise<Form | null> {
  const bytes = await readForm(request.raw, app.clock, mostBytes);
  if (bytes === null) return null;
  const fields = [...new URLSearchParams(bytes.toString('utf8'))];
  // Browsers send each line break as two characters.
  return Object.fromEntries(
    fields.map(([name, value]) => [
      withoutSigns(name),
      withoutSigns(value.replaceAll('\r\n', '\n')),
    ]),
  );
}

/** Returns the fields of a form without a session; null unless a page for this browser sent it. */
export async function readOwnForm(
  site: Site,
  request: FastifyRequest,
  mostBytes?: number,
): Promise<Form | null> {
  const form = await readFields(site, request, mostBytes);
  const secret = site.cookies.read(request, 'svc_console_form');
  const isOwn = form && secret !== null && isSame(form['_form'] ?? '', formTokenOf(secret));
  return isOwn ? form : null;
}
