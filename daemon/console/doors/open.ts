// The page behind a link of `svc open`: its button signs in as the operator, once, in a minute.
import { useLink } from '../../../src/access/sessions/sessions.ts';
import { html } from '../html.ts';
import { type Door, plainAnswer, sentence } from '../site.ts';
import { begun } from './sign-in.ts';

export const openPage: Door = async (site) => {
  const body = html`<form method="post"><p>This link signs you in as the operator, once.</p>
    <button class="btn first">Open the console</button></form>`;
  return plainAnswer(site, 200, { title: 'Open the console', body });
};

export const open: Door = async (site, request, { token: link = '' }) => {
  const { app, workload } = site;
  return workload.begin(async () => {
    const token = await useLink(app, link);
    if (token === null) {
      const text = 'It works once, for a minute: "svc open" makes another.';
      return sentence(site, 410, 'This link was used', text);
    }
    const { to } = request.query as { to?: string };
    return begun(site, request, token, to);
  });
};
