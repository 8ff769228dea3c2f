// Senders with their rates of the last days, and one sender.
import { sparkline } from '../charts.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Form, Page, View } from '../page.ts';
import {
  addressesIn,
  button,
  choice,
  facts,
  field,
  filters,
  form,
  type List,
  link,
  percent,
  state,
  table,
} from '../parts.ts';

interface Sender {
  id: string;
  email: string;
  name: string | null;
  verificationStatus: string;
  isDefault: boolean;
  isActive: boolean;
  replyToEmails: readonly string[] | null;
  deliverability: { bounceRate: number; complaintRate: number; windowSends: number };
  series: readonly number[];
}

const pathOf = ({ params }: Asked) => `/v1/email/senders/${params['id']}`;
const flags = ['true', 'false'];

async function list(asked: Asked): Promise<Part> {
  const { api, query, may } = asked;
  const { verificationStatus, isActive, isDefault, page } = query;
  const wanted = { verificationStatus, isActive, isDefault, page };
  const found = await api.get<List<Sender>>('/v1/email/senders', wanted);
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
        ['Address', ({ id, email }) => link(`/senders/${id}`, email)],
        ['Name', ({ name, isDefault }) => `${name ?? ''} ${isDefault ? '(default)' : ''}`],
        ['Status', ({ verificationStatus: word }) => state(word)],
        ['Last 14 days', ({ series }) => sparkline('Sent a day', series)],
        ['Sent', ({ deliverability }) => deliverability.windowSends],
        ['Bounced', ({ deliverability }) => percent(deliverability.bounceRate)],
        ['Complaints', ({ deliverability }) => percent(deliverability.complaintRate)],
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
  const { api, may } = asked;
  const sender = await api.get<Sender>(pathOf(asked));
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
      ${may('senders:delete') && button(asked, { action: 'delete', label: 'Delete' })}
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
    body,
    command: `svc senders show ${email}`,
    request: `GET ${pathOf(asked)}`,
  };
}

const change = (bodyOf: (given: Form) => object) => async (asked: Asked, given: Form) => {
  await asked.api.send('PATCH', pathOf(asked), bodyOf(given));
  return `/console${asked.path}`;
};

export const senderPages: readonly Page[] = [
  {
    path: '/senders',
    label: 'Senders',
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
        async run({ api }, { email = '', name = '' }) {
          const body = { email: email.trim(), ...(name.trim() !== '' && { name: name.trim() }) };
          const { id } = await api.send<Sender>('POST', '/v1/email/senders', body);
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
      change: {
        needs: 'senders:write',
        run: change((given) => ({
          name: given['name']?.trim() || null,
          replyToEmails: given['replyTo'] ? addressesIn(given['replyTo']) : null,
        })),
      },
      default: { needs: 'senders:write', run: change(() => ({ isDefault: true })) },
      active: {
        needs: 'senders:write',
        run: change(({ active }) => ({ isActive: active === 'true' })),
      },
      resend: {
        needs: 'senders:write',
        async run(asked) {
          await asked.api.send('POST', `${pathOf(asked)}/resend`);
          return `/console${asked.path}`;
        },
      },
      delete: {
        needs: 'senders:delete',
        async run(asked) {
          await asked.api.send('DELETE', pathOf(asked));
          return '/console/senders';
        },
      },
    },
  },
];
