// Senders with their rates, and a sender: whether it may send, its figures, name and replies.
import { senderRoutes } from '../../../../src/identity/senders/routes.ts';
import type { Sender } from '../../../../src/identity/senders/schema.ts';
import { proofRoutes } from '../../../../src/outbound/sending/sender-proof/routes.ts';
import { html, type Part, together } from '../../html.ts';
import type { Action, Asked, Done, Form, Page, View } from '../../page.ts';
import { card, foldedCard } from '../../parts/card.ts';
import { sparkline } from '../../parts/chart.ts';
import { confirmed } from '../../parts/confirm.ts';
import { facts } from '../../parts/facts.ts';
import { filterRow } from '../../parts/filter-row.ts';
import { addressesIn, button, field, form } from '../../parts/form.ts';
import { icon } from '../../parts/icon.ts';
import { emptyState, table } from '../../parts/table.ts';
import { tiles } from '../../parts/tiles.ts';
import { counted, percent } from '../../parts/times.ts';
import { addressPart, who } from '../../parts/who.ts';
import { state } from '../../states.ts';

const yesOrNo = [
  ['true', 'yes'],
  ['false', 'no'],
] as const;
const proofs = [
  ['pending', 'Waits for its proof'],
  ['verified', 'Verified'],
] as const;

/** Draws whether a sender may send, in one word. */
function standing({ verificationStatus, isActive, deliverability }: Sender): Part {
  if (verificationStatus === 'pending') return state('provisioning');
  if (!isActive) return state('disabled');
  const { sendingStatus } = deliverability;
  return state(sendingStatus === 'enabled' ? 'verified' : sendingStatus);
}

/** Returns a rate in words; a dash where nothing was sent. */
function rateOf({ windowSends }: Sender['deliverability'], rate: number): string {
  return percent(windowSends === 0 ? null : rate);
}

async function list(asked: Asked): Promise<Part> {
  const { ask, may } = asked;
  const { verificationStatus, isActive, isDefault, page } = asked.query;
  const query = { verificationStatus, isActive, isDefault, page };
  const found = await ask(senderRoutes.list, { query });
  const isFiltered = verificationStatus || isActive || isDefault;
  const filtering = filterRow(asked, {
    chips: [
      { name: 'verificationStatus', label: 'State', options: proofs, value: verificationStatus },
      { name: 'isActive', label: 'May send', options: yesOrNo, value: isActive },
      { name: 'isDefault', label: 'Default', options: yesOrNo, value: isDefault },
    ],
  });
  const rows = table<Sender>(
    asked,
    found,
    [
      { head: 'Sender', cell: ({ id, ...sender }) => who(sender, `/senders/${id}`) },
      {
        head: 'State',
        isPlain: true,
        cell: (sender) =>
          html`${standing(sender)}${sender.isDefault && html` <span class="tag">Default</span>`}`,
      },
      {
        head: 'Last 14 days',
        cell: ({ series }) => series.some((count) => count > 0) && sparkline('Sent a day', series),
      },
      {
        head: 'Sent in 24 hours',
        isNumber: true,
        cell: ({ deliverability }) => counted(deliverability.windowSends),
      },
      {
        head: 'Bounced',
        isNumber: true,
        cell: ({ deliverability }) => rateOf(deliverability, deliverability.bounceRate),
      },
      {
        head: 'Reported as spam',
        isNumber: true,
        cell: ({ deliverability }) => rateOf(deliverability, deliverability.complaintRate),
      },
    ],
    isFiltered
      ? 'No sender fits.'
      : emptyState('There is no sender yet. Add the address that your mail comes from.'),
  );
  const fields = html`
    ${field({ name: 'email', label: 'Address', isRequired: true, hint: 'Without a verified domain, a link is mailed to it' })}
    ${field({ name: 'name', label: 'Name', hint: 'Recipients see it beside the address' })}`;
  return together(
    html`<section class="card" aria-label="List">${filtering}${rows}</section>`,
    may('senders:write') &&
      foldedCard(
        'Add a sender',
        form(asked, 'make', 'Add the sender', fields),
        'an address that your mail comes from',
        found.items.length === 0 && !isFiltered,
      ),
  );
}

const failures: Readonly<Record<string, string>> = {
  'token-expired': 'The link in its mail is too old.',
  'token-undeliverable': 'The mail with its link did not arrive.',
};

/** Draws why a sender may not send, and the next step. */
function obstacle({ email, isActive, ...sender }: Sender): Part {
  const { verificationStatus, providerFailureCode, deliverability } = sender;
  const { sendingStatus } = deliverability;
  const say = (words: Part) =>
    html`<section class="find-out" aria-label="It cannot send">${icon('warning')}<p>${words}</p></section>`;
  if (verificationStatus === 'pending') {
    const fault = providerFailureCode && html`<b>${failures[providerFailureCode]}</b> `;
    return say(
      html`${fault}It cannot send before somebody opens the link that was mailed to ${addressPart(email)}, or its domain is verified.`,
    );
  }
  if (!isActive) return say('It sends no more, because somebody stopped it.');
  if (sendingStatus === 'held')
    return say('Its domain is held back: too much of its mail bounced or was reported.');
  return sendingStatus === 'paused' ? say('Sending is paused for the whole organization.') : null;
}

function figures({ deliverability, series }: Sender): Part {
  const { windowSends, bounceRate, complaintRate } = deliverability;
  const sum = series.reduce((all, count) => all + count, 0);
  const below = 'in 24 hours';
  return tiles([
    { label: 'Sent', value: counted(sum), below: 'in 14 days', line: { now: series } },
    { label: 'Sent', value: counted(windowSends), below },
    { label: 'Bounced', value: rateOf(deliverability, bounceRate), below },
    { label: 'Reported as spam', value: rateOf(deliverability, complaintRate), below },
  ]);
}

function settings(asked: Asked, sender: Sender): Part {
  const { may } = asked;
  const { email, isActive, isDefault } = sender;
  const ids = facts(sender, [
    ['Verified', 'verifiedAt'],
    ['Id', 'id'],
  ]);
  const buttons = html`<div class="row">
    ${may('senders:write') && !isDefault && button(asked, { action: 'default', label: 'Make it the default' })}
    ${may('senders:write') && button(asked, { action: 'active', label: isActive ? 'Let it send no more' : 'Let it send', fields: { active: String(!isActive) } })}
    ${may('senders:delete') && confirmed(asked, { action: 'delete', label: 'Delete', question: `Delete ${email}?`, goes: 'Nothing is sent from this address any more. Sent mail stays.' })}
  </div>`;
  const soft = isDefault ? 'it is the From of mail without one' : 'default, stop, delete';
  return foldedCard('Use and removal', html`${ids}${buttons}`, soft);
}

function naming(asked: Asked, { name, replyToEmails, verificationStatus }: Sender): Part {
  const fields = html`
    ${field({ name: 'name', label: 'Name', value: name ?? '', hint: 'Recipients see it beside the address' })}
    ${field({ name: 'replyTo', label: 'Replies go to', value: replyToEmails?.join(', '), hint: 'Addresses with commas between; empty: to the sender' })}`;
  const body = form(asked, 'change', 'Save', fields);
  // Folded for a sender without proof: the primary action of the page is then the proof.
  if (verificationStatus === 'verified') return card('Name and replies', body);
  return foldedCard('Name and replies', body, name);
}

async function one(asked: Asked): Promise<View> {
  const { ask, params, may } = asked;
  const sender = await ask(senderRoutes.get, { params });
  const { email, name, replyToEmails, isDefault, verificationStatus } = sender;
  const isPending = verificationStatus === 'pending';
  const words = replyToEmails === null ? null : html`Replies go to ${replyToEmails.join(', ')}`;
  return {
    title: email,
    heading: html`${addressPart(email)} ${standing(sender)}${isDefault && html` <span class="tag">Default</span>`}`,
    below: name,
    actions:
      may('senders:write') &&
      isPending &&
      button(asked, { action: 'resend', label: 'Mail the link again', isFirst: true }),
    body: together(
      obstacle(sender),
      figures(sender),
      may('senders:write') ? naming(asked, sender) : words && html`<p>${words}</p>`,
      settings(asked, sender),
    ),
    command: `svc senders show ${email}`,
    request: `GET /v1/email/senders/${params['id']}`,
  };
}

const change = (
  bodyOf: (given: Form) => object,
  after: (asked: Asked, given: Form) => Partial<Done>,
): Action => ({
  needs: 'senders:write',
  async run(asked, given) {
    const { ask, params, path } = asked;
    await ask(senderRoutes.update, { params, body: bodyOf(given) });
    return { to: `/console${path}`, ...after(asked, given) };
  },
});

export const senderPages: readonly Page[] = [
  {
    path: '/senders',
    needs: 'senders:read',
    show: async (asked) => ({
      title: 'Senders',
      below: 'Addresses that your mail comes from',
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
          return { to: `/console/senders/${id}`, said: 'The sender is added.' };
        },
      },
    },
  },
  {
    path: '/senders/:id',
    needs: 'senders:read',
    show: one,
    actions: {
      change: change(
        ({ name, replyTo }) => ({
          name: name?.trim() || null,
          replyToEmails: replyTo ? addressesIn(replyTo) : null,
        }),
        () => ({ said: 'Saved.' }),
      ),
      default: change(
        () => ({ isDefault: true }),
        () => ({ said: 'It is the default now.' }),
      ),
      active: change(
        ({ active }) => ({ isActive: active === 'true' }),
        ({ path }, { active }) => ({
          said: active === 'true' ? 'It may send.' : 'It sends no more.',
          undo: { path, action: 'active', fields: { active: String(active !== 'true') } },
        }),
      ),
      resend: {
        needs: 'senders:write',
        async run({ ask, params, path }) {
          await ask(proofRoutes.resend, { params });
          return { to: `/console${path}`, said: 'A new link is on its way.' };
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
