// The page of a test mail.
import { mailboxRoutes } from '../../../../src/identity/mailboxes/routes.ts';
import { sendingRoutes } from '../../../../src/outbound/sending/routes.ts';
import { html } from '../../html.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { field, form } from '../../parts/form.ts';

const simulators = [
  'inbox@sandbox.test',
  'delivered@simulator.test',
  'bounced@simulator.test',
  'deferred@simulator.test',
  'complained@simulator.test',
];

/** Draws the form of a test message. */
async function compose(asked: Asked): Promise<View> {
  const { ask, may } = asked;
  const mailboxes = may('mailboxes:read') ? await ask(mailboxRoutes.list) : { items: [] };
  const own = mailboxes.items.flatMap(({ addresses }) => addresses.map(({ address }) => address));
  const { to = 'inbox@sandbox.test', from, subject = 'Hello', text = 'It works.' } = asked.query;
  return {
    title: 'Send a test message',
    body: form(
      asked,
      'send',
      'Send',
      html`
        ${field({ name: 'to', label: 'To', value: to, isRequired: true, offers: [...new Set([...simulators, ...own])], hint: 'Mail to simulator.test and to your own mailboxes never leaves this machine' })}
        ${field({ name: 'from', label: 'From', value: from, hint: 'Empty: the default sender' })}
        ${field({ name: 'subject', label: 'Subject', value: subject, isRequired: true })}
        ${field({ name: 'text', label: 'Text', type: 'textarea', value: text, isRequired: true })}
        ${field({ name: 'html', label: 'HTML', type: 'textarea', value: asked.query['html'] })}
      `,
    ),
    command: 'svc messages send --to inbox@sandbox.test --subject Hello --text "It works."',
    request: 'POST /v1/messages',
  };
}

async function send({ ask }: Asked, given: Form): Promise<string> {
  const { to = '', subject = '', text = '', from = '', html: page = '' } = given;
  const body = {
    channel: 'email',
    to: [{ email: to.trim() }],
    ...(from.trim() !== '' && { from: { email: from.trim() } }),
    email: { subject, text, ...(page !== '' && { html: page }) },
  };
  const { id } = await ask(sendingRoutes.send, { body });
  return `/console/messages/${id}`;
}

export const composePage: Page = {
  path: '/messages/new',
  needs: 'messages:send',
  show: compose,
  actions: { send: { needs: 'messages:send', run: send } },
};
