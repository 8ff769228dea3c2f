// A message: the verdict and the possible actions, the mail beside its story, and related
// resources. Ids, headers and attempts are folded.
import { campaignRunDesk } from '../../../../src/campaigns/setup/routes.ts';
import { templateRoutes } from '../../../../src/content/templates/routes.ts';
import { undoRoutes } from '../../../../src/inbox/replies/undo/routes.ts';
import { explainRoutes } from '../../../../src/outbound/explain/routes.ts';
import type { MessageExplanation } from '../../../../src/outbound/explain/schema.ts';
import type { EmailProjection } from '../../../../src/outbound/messages/email-schema.ts';
import { messageRoutes } from '../../../../src/outbound/messages/routes.ts';
import type { Delivery, Message, TimelineEvent } from '../../../../src/outbound/messages/schema.ts';
import { queueRoutes } from '../../../../src/outbound/queue/desk/routes.ts';
import { sendingRoutes } from '../../../../src/outbound/sending/routes.ts';
import { blockRoutes } from '../../../../src/people/blocks/routes.ts';
import type { Block } from '../../../../src/people/blocks/schema.ts';
import { orNone, withQuery } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Page, View } from '../../page.ts';
import { parsingErrors } from '../../parsing-errors.ts';
import { calls } from '../../parts/calls.ts';
import { card, foldedCard } from '../../parts/card.ts';
import { confirmed } from '../../parts/confirm.ts';
import { facts } from '../../parts/facts.ts';
import { button } from '../../parts/form.ts';
import { icon } from '../../parts/icon.ts';
import { link, titleOfMail } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { time, timeWords } from '../../parts/times.ts';
import { addressPart } from '../../parts/who.ts';
import { messageState, state } from '../../states.ts';
import { blockLabel } from '../causes.ts';
import { mailCard, rawPathOf } from './preview.ts';
import { storyOf } from './story.ts';
import { type Verdict, verdictOf } from './verdict.ts';

const mostOther = 3;

interface Seen {
  message: Message;
  email: EmailProjection;
  steps: TimelineEvent[];
  deliveries: Delivery[];
  explanation: MessageExplanation;
  verdict: Verdict;
}

async function see(asked: Asked): Promise<Seen> {
  const { ask, params } = asked;
  // Reads the message first: this decides whether the caller may see the rest.
  const message = await ask(messageRoutes.get, { params });
  const [email, steps, deliveries, explanation] = await Promise.all([
    ask(messageRoutes.email, { params, query: { includeStorageUrls: true } }),
    ask(messageRoutes.events, { params }),
    ask(messageRoutes.deliveries, { params }),
    ask(explainRoutes.message, { params }),
  ]);
  const verdict = verdictOf(message, explanation, deliveries, (at) => timeWords(asked, at));
  return { message, email, steps, deliveries, explanation, verdict };
}

const waits = new Set(['pending', 'queued', 'scheduled', 'processing']);

/** Draws the buttons for a message: retry, cancel or send again; nothing for received mail. */
function moves(asked: Asked, { message, deliveries }: Seen): Part {
  const { may } = asked;
  const { status, direction, subject } = message;
  if (direction === 'inbound') return null;
  const isWaiting = waits.has(status);
  const retried = deliveries.find(({ scheduling }) => scheduling?.waitReason === 'retry');
  const title = titleOfMail(subject);
  return html`${retried && may('operator') && button(asked, { action: 'retry', label: 'Try it now', isFirst: true, fields: { delivery: retried.id } })}
    ${
      may('messages:send') &&
      isWaiting &&
      confirmed(asked, {
        action: 'cancel',
        label: 'Cancel',
        question: 'Cancel this mail?',
        goes: `“${title}” does not leave any more to whoever waits for it. It can be sent again as a new mail.`,
        look: '',
      })
    }
    ${may('messages:send') && !isWaiting && button(asked, { action: 'resend', label: 'Send again as new' })}`;
}

/** Draws the verdict as the heading. */
function verdictHeading({ tone, sentence }: Verdict): Part {
  const isFine = tone === 'good' || tone === 'none' || tone === 'info';
  return html`${icon(isFine ? 'approve' : 'warning', tone)} ${sentence}`;
}

function storyCard(asked: Asked, seen: Seen): Part {
  const { message, steps, explanation, deliveries } = seen;
  const { recipients } = explanation;
  const lines = storyOf({ message, steps, recipients, deliveries }, (at) => timeWords(asked, at));
  const drawn = lines.map(
    ({ tone, sentence, below, said }) =>
      html`<li class=${tone || undefined}><b>${sentence}</b> <small>${below}</small>
        ${said !== null && html`<details><summary>${tone === 'warn' ? 'The words of the other server' : 'Details'}</summary><pre>${said}</pre></details>`}</li>`,
  );
  const body =
    drawn.length === 0
      ? html`<p class="soft">It was received ${time(message.createdAt)}.</p>`
      : html`<ol class="story">${drawn}</ol>`;
  return card('What happened', body, { more: asked.timezone });
}

const fact = (name: string, value: Part) => html`<dt>${name}</dt><dd>${value}</dd>`;

interface Around {
  block: Block | null;
  run: Awaited<ReturnType<typeof runOf>>;
  template: { id: string; name: string } | null;
  /** Newest further mail to the first recipient, or from the sender of received mail. */
  other: readonly Message[];
  count: number;
}

function runOf({ ask, may }: Asked, { campaignRunId }: Message) {
  return orNone(campaignRunId !== null && may('campaigns:read'), () =>
    ask(campaignRunDesk.find, { query: { runId: campaignRunId } }),
  );
}

/** Reads the block, the campaign run and the template of a message, and further mail. */
async function around(asked: Asked, message: Message): Promise<Around> {
  const { ask, may } = asked;
  const { id, direction, templateId, recipients, from } = message;
  const first = recipients[0]?.email ?? '';
  const filter = direction === 'inbound' ? { sender: from.email } : { recipient: first };
  const isKnown = direction === 'inbound' || first !== '';
  const [blocks, run, template, mails] = await Promise.all([
    orNone(isKnown && first !== '' && may('blocks:read'), () =>
      ask(blockRoutes.list, { query: { address: first, limit: 1 } }),
    ),
    runOf(asked, message),
    orNone(templateId !== null && may('templates:read'), () =>
      ask(templateRoutes.get, { params: { id: templateId ?? '' } }),
    ),
    orNone(isKnown, () => ask(messageRoutes.list, { query: { ...filter, limit: mostOther + 1 } })),
  ]);
  return {
    block: blocks?.items[0] ?? null,
    run,
    template,
    other: (mails?.items ?? []).filter((one) => one.id !== id).slice(0, mostOther),
    count: mails?.pagination.total ?? 0,
  };
}

function blockFact(asked: Asked, address: string, block: Block | null): Part {
  const { may } = asked;
  if (block) {
    const since = html`${blockLabel(block.reason)}, ${time(block.createdAt)}`;
    const lift = confirmed(asked, {
      action: 'lift',
      label: 'Lift',
      question: `Lift the block of ${address}?`,
      goes: 'Mail is sent to this address again.',
      fields: { id: block.id },
      look: '',
    });
    return html`Yes: ${since} ${may('blocks:delete') && lift}`;
  }
  if (!may('blocks:write')) return 'No';
  const question = confirmed(asked, {
    action: 'block',
    label: 'Block',
    question: `Block ${address}?`,
    goes: 'No mail is sent to this address any more, orders included, until somebody lifts the block.',
    fields: { address },
    look: '',
  });
  return html`No ${question}`;
}

function people(asked: Asked, message: Message): Part {
  const shown = [...message.to, ...message.cc, ...message.bcc].map(({ email, name, contactId }) => {
    const text = html`<b>${name ?? addressPart(email)}</b>`;
    const named =
      contactId !== null && asked.may('contacts:read')
        ? link(`/contacts/${contactId}`, text)
        : text;
    return html`<li>${named}${name !== null && html` <small>${addressPart(email)}</small>`}</li>`;
  });
  return html`<ul>${shown}</ul>`;
}

function opensOf({ tracking, deliveries }: Message): string {
  if (!tracking.opens) return 'Not counted';
  const { length } = deliveries.filter(({ readAt }) => readAt !== null);
  return length === 0 ? 'Counted: none yet' : `Counted: opened by ${length}`;
}

function aboutCard(
  asked: Asked,
  { message }: Seen,
  { block, run, template, other, count }: Around,
): Part {
  const { conversationId, direction, recipients, resendOf, templateVersion } = message;
  const [first] = recipients;
  const isOut = direction === 'outbound';
  const filter = isOut ? { recipient: first?.email } : { sender: message.from.email };
  const list = html`<dl class="facts">
    ${fact('To', people(asked, message))}
    ${isOut && recipients.length === 1 && first && asked.may('blocks:read') && fact('Blocked', blockFact(asked, first.email, block))}
    ${run && fact('Campaign', link(`/campaigns/${run.campaign.id}/runs/${run.run.id}`, run.campaign.name))}
    ${template && fact('Template', html`${link(`/templates/${template.id}`, template.name)}${templateVersion !== null && `, version ${templateVersion}`}`)}
    ${isOut && fact('Opens', opensOf(message))}
    ${conversationId !== null && asked.may('conversations:read') && fact('Conversation', link(`/conversations/${conversationId}`, 'Its conversation'))}
    ${resendOf !== null && fact('Sent again from', link(`/messages/${resendOf}`, 'the first mail'))}
  </dl>`;
  const rows =
    other.length > 0 &&
    table<Message>(
      asked,
      { items: other },
      [
        {
          head: isOut ? 'Other mail to this address' : 'Other mail from this address',
          cell: ({ id, subject }) => link(`/messages/${id}`, titleOfMail(subject)),
        },
        { head: 'State', isPlain: true, cell: (one) => messageState(one, one.deliveries) },
        { head: 'Time', isNumber: true, cell: ({ createdAt }) => time(createdAt) },
      ],
      '',
    );
  const more = other.length > 0 && link(withQuery('/messages', filter), `All ${count} mails`);
  return card('About it', together(list, rows), { more });
}

function attempts(deliveries: readonly Delivery[]): Part {
  return deliveries
    .flatMap((delivery) => delivery.attempts)
    .map(
      ({ at, host, tls, outcome, code, reply, transcript }) =>
        html`<details><summary>${time(at)} ${state(outcome)} ${host} ${code} ${reply} <small>${tls}</small></summary>
          <pre>${transcript ?? 'No transcript was kept.'}</pre></details>`,
    );
}

function developers({ message, email, deliveries, explanation }: Seen): Part {
  const help = explanation.recipients.flatMap((one) => (one.help ? [one.help] : []));
  return foldedCard(
    'For developers',
    together(
      facts(message, [
        ['Message', 'id'],
        ['Status', 'status'],
        ['Deliveries', 'deliveries.0.id'],
        ['Tags', 'tags'],
        ['Metadata', 'metadata'],
        ['Template', 'templateId'],
        ['Run of a campaign', 'campaignRunId'],
        ['Came by', 'origin.via'],
      ]),
      explanation.recipients.map(
        ({ happened, because, next }) => html`<p class="soft">${happened} ${because} ${next}</p>`,
      ),
      help.map(
        ({ purpose, command }) => html`<p>${purpose}:</p><pre data-copy="">${command}</pre>`,
      ),
      attempts(deliveries),
      facts(email, [
        ['From', 'fromEmail'],
        ['To', 'toEmails'],
        ['Cc', 'ccEmails'],
        ['Bcc', 'bccEmails'],
        ['Reply-To', 'replyToEmails'],
        ['Message-ID', 'messageIdHeader'],
        ['In-Reply-To', 'inReplyTo'],
        ['References', 'references'],
        ['DKIM', 'dkimVerdict'],
        ['SPF', 'spfVerdict'],
        ['DMARC', 'dmarcVerdict'],
        ['ARC', 'arcVerdict'],
        ['Authentication-Results', 'authenticationResults'],
        ['Answered by itself', 'autoReplyReason'],
        ['Unsubscribe', 'listUnsubscribeUrl'],
      ]),
    ),
    'ids, attempts, metadata, headers',
  );
}

async function show(asked: Asked): Promise<View> {
  const { params, may } = asked;
  const seen = await see(asked);
  const { message, email } = seen;
  const found = await around(asked, message);
  const to = message.to.map(({ name, email: address }) => name ?? address).join(', ');
  const title = titleOfMail(message.subject);
  const remove = confirmed(asked, {
    action: 'delete',
    label: 'Delete',
    question: 'Delete this mail for good?',
    goes: `“${title}” goes with its story and its files. What has not left is cancelled.`,
  });
  return {
    title,
    crumb: html`${link('/messages', 'Messages')} / ${title}`,
    heading: verdictHeading(seen.verdict),
    below: seen.verdict.next,
    actions: together(moves(asked, seen), may('messages:delete') && remove),
    body: together(
      parsingErrors(email, rawPathOf(email)),
      html`<div class="grid half"><div class="grid">${storyCard(asked, seen)}${aboutCard(asked, seen, found)}</div>
        ${mailCard(asked, email, to)}</div>`,
      developers(seen),
    ),
    live: 'exchange',
    about: params['id'],
    command: `svc messages explain ${params['id']}`,
    request: `GET /v1/messages/${params['id']}/explain`,
  };
}

const ownPath = ({ params }: Asked) => `/console/messages/${params['id']}`;

export const messagePage: Page = {
  path: '/messages/:id',
  needs: 'messages:read',
  show,
  actions: {
    cancel: calls(undoRoutes.cancel, { said: 'Cancelled.' }),
    retry: calls(queueRoutes.retry, {
      body: ({ delivery = '' }) => ({ ids: [delivery] }),
      said: 'It is tried now.',
    }),
    resend: {
      needs: 'messages:send',
      async run({ ask, params }) {
        const { id } = await ask(sendingRoutes.resend, { params });
        return { to: `/console/messages/${id}`, said: 'Sent again, as a new mail.' };
      },
    },
    block: {
      needs: 'blocks:write',
      async run(asked, { address = '', reason }) {
        const body = { address, ...(reason && { reason }) };
        const { id } = await asked.ask(blockRoutes.create, { body });
        const undo = { path: asked.path, action: 'lift', fields: { id } };
        return { to: ownPath(asked), said: `${address} is blocked.`, undo };
      },
    },
    lift: {
      needs: 'blocks:delete',
      destroys: true,
      async run(asked, { id = '' }) {
        const block = await asked.ask(blockRoutes.get, { params: { id } });
        await asked.ask(blockRoutes.delete, { params: { id } });
        const { address, reason, unsubscribeGroupId } = block;
        const undo = { path: asked.path, action: 'block', fields: { address, reason } };
        const said = `The block of ${address} is lifted.`;
        return { to: ownPath(asked), said, ...(unsubscribeGroupId === null && { undo }) };
      },
    },
    delete: calls(messageRoutes.delete, {
      destroys: true,
      to: '/messages',
      said: 'The mail is deleted.',
    }),
  },
};
