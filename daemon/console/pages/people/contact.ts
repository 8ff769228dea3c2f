// A contact: the lists it gets as switches, its story, and what is known about it.
import { unsubscribeGroupRoutes } from '../../../../src/consent/opt-in/group-routes.ts';
import { listDesk } from '../../../../src/consent/opt-in/routes.ts';
import { forgetRoutes } from '../../../../src/outbound/messages/forget/contact-routes.ts';
import { messageRoutes } from '../../../../src/outbound/messages/routes.ts';
import { blockRoutes } from '../../../../src/people/blocks/routes.ts';
import type { Block } from '../../../../src/people/blocks/schema.ts';
import { contactRoutes } from '../../../../src/people/contacts/routes.ts';
import type { Contact } from '../../../../src/people/contacts/schema.ts';
import { conversationRoutes } from '../../../../src/people/conversations/routes.ts';
import type { UnsubscribeGroup } from '../../../../src/people/unsubscribe-groups/schema.ts';
import { orNone, withQuery } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Done, Form, Page, View } from '../../page.ts';
import { card, foldedCard } from '../../parts/card.ts';
import { confirmed, requireTyped } from '../../parts/confirm.ts';
import { facts } from '../../parts/facts.ts';
import { addressesIn, button, choice, field, form } from '../../parts/form.ts';
import { icon } from '../../parts/icon.ts';
import { link } from '../../parts/link.ts';
import { time } from '../../parts/times.ts';
import { addressPart } from '../../parts/who.ts';
import { state } from '../../states.ts';
import { blockLabel, isRecipientsWish } from '../causes.ts';
import { profileFacts, profileFields, profileForm, profileIn } from './contact-fields.ts';
import { timelineOf } from './contact-timeline.ts';
import { nameOf } from './names.ts';

const mostLists = 100;
const mostMails = 15;
const mostOther = 10;
const none = { items: [] };

const firstAddress = ({ identities }: Contact) => identities[0]?.identifier;

/** All that the page shows about a contact; empty lists for what the caller may not read. */
interface Seen {
  contact: Contact;
  blocks: readonly Block[];
  lists: readonly UnsubscribeGroup[];
  moments: ReturnType<typeof timelineOf>;
}

async function see(asked: Asked): Promise<Seen> {
  const { ask, may, params } = asked;
  const contact = await ask(contactRoutes.get, { params });
  const address = firstAddress(contact);
  const hasMail = address !== undefined && may('messages:read');
  const [blocks, lists, sent, received, conversations] = await Promise.all([
    orNone(address !== undefined && may('blocks:read'), () =>
      ask(blockRoutes.list, { query: { address, limit: mostLists } }),
    ),
    ask(unsubscribeGroupRoutes.list, { query: { limit: mostLists } }),
    orNone(hasMail, () =>
      ask(messageRoutes.list, { query: { recipient: address, limit: mostMails } }),
    ),
    orNone(hasMail, () =>
      ask(messageRoutes.list, { query: { sender: address, limit: mostOther } }),
    ),
    may('conversations:read')
      ? ask(conversationRoutes.list, { query: { contactId: contact.id, limit: mostOther } })
      : none,
  ]);
  const moments = timelineOf({
    contact,
    sent: sent?.items ?? [],
    received: received?.items ?? [],
    conversations: conversations.items,
    blocks: blocks?.items ?? [],
    lists: new Map(lists.items.map(({ id, name }) => [id, name])),
  });
  return { contact, blocks: blocks?.items ?? [], lists: lists.items, moments };
}

/** Draws the button that lifts a block, behind a question. */
function lifting(asked: Asked, block: Block, label: string, question: string): Part {
  if (!asked.may('blocks:delete')) return null;
  const { id, reason } = block;
  const goes = isRecipientsWish(reason)
    ? 'The person wanted no more of this mail. Lift it only if the person asked for it.'
    : 'Mail is sent to this address again.';
  return confirmed(asked, { action: 'lift', label, question, goes, fields: { id }, look: '' });
}

function listRow(
  asked: Asked,
  { contact, blocks }: Seen,
  { id, name, description }: UnsubscribeGroup,
): Part {
  const left = blocks.find(({ unsubscribeGroupId }) => unsubscribeGroupId === id);
  const mayLeave = asked.may('blocks:write') && firstAddress(contact) !== undefined;
  const move = left
    ? lifting(asked, left, 'Put back', `Send “${name}” to ${nameOf(contact)} again?`)
    : mayLeave &&
      button(asked, {
        action: 'leave',
        label: html`Leave<span class="sr"> ${name}</span>`,
        fields: { list: id },
      });
  const soft = left
    ? html`left ${time(left.createdAt)}`
    : html`gets it${description && `: ${description}`}`;
  return html`<li>${icon(left ? 'blocked' : 'approve', left ? undefined : 'good')}<span><b>${link(`/groups/unsubscribing/${id}`, name)}</b> <small>${soft}</small></span>${move}</li>`;
}

/** Draws the row on all mail: blocked with the reason, or a way to block. */
function allMailRow(asked: Asked, { contact, blocks }: Seen): Part {
  const address = firstAddress(contact);
  if (address === undefined || !asked.may('blocks:read')) return null;
  const whole = blocks.filter(({ unsubscribeGroupId }) => unsubscribeGroupId === null);
  const [block] = whole;
  if (block) {
    const why = html`${blockLabel(block.reason)}, ${time(block.createdAt)}`;
    const more = block.messageId !== null && link(`/messages/${block.messageId}`, 'that mail');
    return html`<li>${icon('blocked', 'bad')}<span><b>No mail at all</b> <small>${why} ${more}</small></span>${lifting(asked, block, 'Lift', `Lift the block of ${address}?`)}</li>`;
  }
  const blocking =
    asked.may('blocks:write') &&
    confirmed(asked, {
      action: 'block',
      label: 'Block',
      question: `Block ${address}?`,
      goes: 'No mail is sent to this address any more, orders included, until somebody lifts the block.',
      fields: { address },
      look: '',
    });
  return html`<li>${icon('approve', 'good')}<span><b>All other mail</b> <small>orders, answers, and mail without a list</small></span>${blocking}</li>`;
}

function listsCard(asked: Asked, seen: Seen): Part {
  const rows = [...seen.lists.map((list) => listRow(asked, seen, list)), allMailRow(asked, seen)];
  return card('What this person gets', html`<ul class="todo">${rows}</ul>`);
}

function storyCard(asked: Asked, { contact, moments }: Seen): Part {
  const address = firstAddress(contact);
  const rows = moments.map(
    ({ at, tone, sentence, path }) =>
      html`<li class=${tone || undefined}>${path === null ? html`<b>${sentence}</b>` : link(path, sentence)} <small>${time(at)}</small></li>`,
  );
  const more =
    address !== undefined &&
    asked.may('messages:read') &&
    link(withQuery('/messages', { recipient: address }), 'All mail to this address');
  return card('What happened', html`<ol class="story">${rows}</ol>`, { more });
}

function changing(asked: Asked, contact: Contact): Part {
  if (!asked.may('contacts:write')) return null;
  const values: Form = {
    name: contact.name ?? '',
    displayName: contact.displayName ?? '',
    tags: contact.tags.join(', '),
    externalId: contact.externalId ?? '',
    status: contact.status,
    ...profileForm(contact),
  };
  const fields = html`
    ${field({ name: 'name', label: 'Name', value: values['name'] })}
    ${field({ name: 'displayName', label: 'Name to show', value: values['displayName'] })}
    ${field({ name: 'tags', label: 'Tags', value: values['tags'], hint: 'Divided by commas' })}
    ${field({ name: 'externalId', label: 'External id', value: values['externalId'], hint: 'Your own id of this person' })}
    ${choice({
      name: 'status',
      label: 'Status',
      options: [
        ['active', 'Active'],
        ['archived', 'Archived: no campaign chooses it'],
      ],
      value: values['status'],
      empty: 'as it is',
    })}
    <fieldset><legend>Profile</legend>${profileFields(values)}</fieldset>`;
  return foldedCard('Change', form(asked, 'change', 'Save', fields), 'name, tags, profile');
}

async function one(asked: Asked): Promise<View> {
  const { may, params } = asked;
  const seen = await see(asked);
  const { contact } = seen;
  const address = firstAddress(contact) ?? contact.id;
  const name = nameOf(contact);
  const addresses = contact.identities.map(({ identifier }, at) => [
    at > 0 && ', ',
    addressPart(identifier),
  ]);
  const remove =
    may('contacts:delete') &&
    confirmed(asked, {
      action: 'delete',
      label: 'Delete',
      question: `Delete ${name}?`,
      goes: 'The person goes with all that is known, and with the mail to and from the address. Blocks stay, so that no mail is sent again.',
      typedName: address,
    });
  return {
    title: name,
    crumb: link('/contacts', 'Contacts'),
    below: html`${state(contact.status)} ${addresses}`,
    actions: remove,
    body: together(
      html`<div class="grid half"><div class="grid">${listsCard(asked, seen)}${card(
        'About this person',
        html`<div>${facts(contact, [
          ['Reason', 'statusReason'],
          ['Tags', 'tags'],
          ['External id', 'externalId'],
          ['Language', 'preferences.language'],
          ['Time zone', 'preferences.timezone'],
          ['Wants campaigns', 'preferences.notifications.email'],
          ['Since', 'createdAt'],
        ])}${profileFacts(contact)}</div>`,
      )}</div>${storyCard(asked, seen)}</div>`,
      changing(asked, contact),
      foldedCard(
        'For developers',
        facts(contact, [
          ['Id', 'id'],
          ['Changed', 'updatedAt'],
          ['Metadata', 'metadata'],
        ]),
        'id, metadata',
      ),
    ),
    command: `svc contacts show ${params['id']}`,
    request: `GET /v1/contacts/${params['id']}`,
  };
}

async function change({ ask, params, path }: Asked, given: Form): Promise<Done> {
  const { name = '', displayName = '', tags, externalId = '', status } = given;
  const body = {
    name: name.trim() || null,
    displayName: displayName.trim() || null,
    tags: addressesIn(tags),
    externalId: externalId.trim() || null,
    ...(status && { status }),
    profile: profileIn(given),
  };
  await ask(contactRoutes.update, { params, body });
  return { to: `/console${path}`, said: 'Saved.' };
}

/** Blocks mail of a list to the contact; the button in the toast lifts the block. */
async function leave({ ask, params, path }: Asked, { list = '' }: Form): Promise<Done> {
  const body = { contactId: params['id'], unsubscribeGroupId: list };
  const [{ name }, { id }] = await Promise.all([
    ask(unsubscribeGroupRoutes.get, { params: { id: list } }),
    ask(listDesk.leave, { body }),
  ]);
  return {
    to: `/console${path}`,
    said: `Nothing of “${name}” is sent any more.`,
    undo: { path, action: 'lift', fields: { id } },
  };
}

async function lift({ ask, path }: Asked, { id = '' }: Form): Promise<Done> {
  const block = await ask(blockRoutes.get, { params: { id } });
  await ask(blockRoutes.delete, { params: { id } });
  const { address, reason, unsubscribeGroupId: list } = block;
  return list === null
    ? {
        to: `/console${path}`,
        said: `${address} gets mail again.`,
        undo: { path, action: 'block', fields: { address, reason } },
      }
    : {
        to: `/console${path}`,
        said: 'The list is sent again.',
        undo: { path, action: 'leave', fields: { list } },
      };
}

export const contactPage: Page = {
  path: '/contacts/:id',
  needs: 'contacts:read',
  show: one,
  actions: {
    change: { needs: 'contacts:write', run: change },
    leave: { needs: 'blocks:write', run: leave },
    lift: { ...{ needs: 'blocks:delete', run: lift }, destroys: true },
    block: {
      needs: 'blocks:write',
      run: async ({ ask, path }, { address = '', reason }) => {
        const body = { address, ...(reason && { reason }) };
        const { id } = await ask(blockRoutes.create, { body });
        const undo = { path, action: 'lift', fields: { id } };
        return { to: `/console${path}`, said: `${address} gets no mail any more.`, undo };
      },
    },
    delete: {
      needs: 'contacts:delete',
      destroys: true,
      async run({ ask, params }, given) {
        const contact = await ask(contactRoutes.get, { params });
        requireTyped(given, firstAddress(contact) ?? contact.id);
        await ask(forgetRoutes.delete, { params });
        return { to: '/console/contacts', said: `${nameOf(contact)} is deleted.` };
      },
    },
  },
};
