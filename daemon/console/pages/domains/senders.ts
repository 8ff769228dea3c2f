// Senders with their rates of the last days, and a single sender.
import { senderRoutes } from '../../../../src/identity/senders/routes.ts';
import { proofRoutes } from '../../../../src/outbound/sending/sender-proof/routes.ts';
import { html, type Part, together } from '../../html.ts';
import type { Action, Asked, Form, Page, View } from '../../page.ts';
import { sparkline } from '../../parts/chart.ts';
import { confirmed } from '../../parts/confirm.ts';
import { facts } from '../../parts/facts.ts';
import { filters } from '../../parts/filter-row.ts';
import { addressesIn, button, choice, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { percent } from '../../parts/times.ts';
import { addressPart } from '../../parts/who.ts';
import { state } from '../../states.ts';

const flags = ['true', 'false'];

async function list(asked: Asked): Promise<Part> {
  const { ask, may } = asked;
  const { verificationStatus, isActive, isDefault, page } = asked.query;
  const query = { verificationStatus, isActive, isDefault, page };
  const found = await ask(senderRoutes.list, { query });
  return together(
    filters(html`
      ${choice({ name: 'verificationStatus', label: 'Status', options: ['pending', 'verified'], value: verificationStatus })}
      ${choice({ name: 'isActive', label: 'May send', options: flags, value: isActive })}
      ${choice({ name: 'isDefault', label: 'Default', options: flags, value: isDefault })}
    `),
    table(
      asked,
      found,
      [
        ['Address', ({ id, email }) => link(`/senders/${id}`, addressPart(email))],
        ['Name', ({ name, isDefault }) => `${name ?? ''} ${isDefault ? '(default)' : ''}`],
        ['Status', ({ verificationStatus: word }) => state(word)],
        ['Last 14 days', ({ series }) => sparkline('Sent a day', series)],
        ['Sent', ({ deliverability }) => deliverability.windowSends],
        ['Bounced', ({ deliverability: of }) => percent(of.windowSends > 0 ? of.bounceRate : null)],
        [
          'Complaints',
          ({ deliverability: of }) => percent(of.windowSends > 0 ? of.complaintRate : null),
        ],
      ],
      'No sender fits: "svc senders create" makes one.',
    ),
    may('senders:write') && html`<h2>Make a sender</h2>`,
    may('senders:write') &&
      form(
        asked,
        'make',
        'Make the sender',
        html`
        ${field({ name: 'email', label: 'Address', isRequired: true, hint: 'Without a verified domain, a link is mailed to it' })}
        ${field({ name: 'name', label: 'Name' })}
      `,
      ),
  );
}

async function one(asked: Asked): Promise<View> {
  const { ask, params, may } = asked;
  const sender = await ask(senderRoutes.get, { params });
  const { email, name, replyToEmails, isActive, isDefault, verificationStatus, series } = sender;
  const isPending = verificationStatus === 'pending';
  const body = together(
    html`<p>${state(verificationStatus)} ${sparkline('Sent a day, 14 days', series)}</p>`,
    facts(sender, [
      ['Name', 'name'],
      ['Replies go to', 'replyToEmails'],
      ['Default', 'isDefault'],
      ['May send', 'isActive'],
      ['Verified', 'verifiedAt'],
      ['Proof', 'providerLifecycle'],
      ['Proof failed because', 'providerFailureCode'],
      ['Sending', 'deliverability.sendingStatus'],
      ['Id', 'id'],
    ]),
    html`<div class="row">
      ${may('senders:write') && isPending && button(asked, { action: 'resend', label: 'Mail the link again' })}
      ${may('senders:write') && !isDefault && button(asked, { action: 'default', label: 'Make it the default' })}
      ${may('senders:write') && button(asked, { action: 'active', label: isActive ? 'Let it send no more' : 'Let it send', fields: { active: String(!isActive) } })}
      ${may('senders:delete') && confirmed(asked, { action: 'delete', label: 'Delete', question: `Delete ${email}?`, goes: 'Nothing is sent from this address any more. Sent mail stays.' })}
    </div>`,
    may('senders:write') &&
      form(
        asked,
        'change',
        'Save',
        html`
        ${field({ name: 'name', label: 'Name', value: name ?? '' })}
        ${field({ name: 'replyTo', label: 'Replies go to', value: replyToEmails?.join(', ') })}
      `,
      ),
  );
  return {
    title: email,
    heading: addressPart(email),
    body,
    command: `svc senders show ${email}`,
    request: `GET /v1/email/senders/${params['id']}`,
  };
}

const change = (bodyOf: (given: Form) => object): Action => ({
  needs: 'senders:write',
  async run({ ask, params, path }, given) {
    await ask(senderRoutes.update, { params, body: bodyOf(given) });
    return `/console${path}`;
  },
});

export const senderPages: readonly Page[] = [
  {
    path: '/senders',
    needs: 'senders:read',
    show: async (asked) => ({
      title: 'Senders',
      body: await list(asked),
      command: 'svc senders list',
      request: 'GET /v1/email/senders',
    }),
    actions: {
      make: {
        needs: 'senders:write',
        async run({ ask }, { email = '', name = '' }) {
          const body = { email: email.trim(), ...(name.trim() !== '' && { name: name.trim() }) };
          const { id } = await ask(senderRoutes.create, { body });
          return `/console/senders/${id}`;
        },
      },
    },
  },
  {
    path: '/senders/:id',
    needs: 'senders:read',
    show: one,
    actions: {
      change: change(({ name, replyTo }) => ({
        name: name?.trim() || null,
        replyToEmails: replyTo ? addressesIn(replyTo) : null,
      })),
      default: change(() => ({ isDefault: true })),
      active: change(({ active }) => ({ isActive: active === 'true' })),
      resend: {
        needs: 'senders:write',
        async run({ ask, params, path }) {
          await ask(proofRoutes.resend, { params });
          return `/console${path}`;
        },
      },
      delete: {
        needs: 'senders:delete',
        destroys: true,
        async run({ ask, params }) {
          await ask(senderRoutes.delete, { params });
          return { to: '/console/senders', said: 'The sender is deleted.' };
        },
      },
    },
  },
];
