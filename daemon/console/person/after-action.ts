// The redirect after an action with a toast, and the page of a secret that is shown for ten
// minutes.
import { findSecret, keepSecret, keepToast } from '../../../src/access/sessions/after-action.ts';
import { withQuery } from '../api.ts';
import { root } from '../browser-request.ts';
import { html } from '../html.ts';
import type { Asked, Done, View } from '../page.ts';
import { copy } from '../parts/copy.ts';
import { posting } from '../parts/form.ts';

/** Keeps the toast and the secret of an action. Returns the path of the next page. */
export async function goOn(
  { app, session }: Asked,
  { to, said, undo, secret }: Done,
): Promise<string> {
  const { token } = session;
  if (said !== undefined) await keepToast(app, token, { said, ...(undo && { undo }) });
  if (!secret) return to;
  const { pathname, searchParams } = new URL(to, 'http://console.invalid');
  searchParams.set('once', await keepSecret(app, token, secret));
  return `${pathname}?${searchParams}`;
}

/** Returns the page of the secret that a query names; null without such a secret. */
export async function secretIn(asked: Asked): Promise<View | null> {
  const { app, session, path, query } = asked;
  const { once: id, ...rest } = query;
  const secret = id === undefined ? null : await findSecret(app, session.token, id);
  if (id === undefined || !secret) return null;
  const next = withQuery(`${root}${path}`, rest);
  const body = html`<section class="card secret"><div class="in">
    <p>This is shown for ten minutes, to you alone, and never again. Keep it now.</p>
    ${secret.fields.map(({ label, value }) => html`<div class="field"><span>${label}</span>${copy(value)}</div>`)}
    ${posting(asked, '/seen', { id, next }, 'I have it', 'first')}</div></section>`;
  return { title: secret.title, body };
}
