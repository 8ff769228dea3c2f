// A shop for the bars of the console, with more than a single row in each list, and long names,
// addresses and subjects. All of its mail stays on this machine.
import { type DaemonProcess, until } from '../support/daemon-process.ts';
import type { Made } from './world.ts';

const host = 'versandabteilung.harbour-books-and-stationery.example';

/** Names and addresses as long as those of real customers. */
const people = [
  ['Maximiliane Freifrau von Hohenstein-Wolkenstein', `maximiliane.von-hohenstein@${host}`],
  ['Bartholomäus Oberhuber', `bartholomaeus.oberhuber@${host}`],
  ['Siobhán Ní Dhomhnaill', 'siobhan@example.ie'],
  ['Nguyễn Thị Minh Khai', 'delivered+khai@simulator.test'],
  ['Jo', 'bounced+jo.halle.at.the.far.end.of.the.harbour@simulator.test'],
  ['עדה לאבלייס', 'delivered+ada@simulator.test'],
] as const;

const subjects = [
  'Your order HB-48377 has left our warehouse and arrives on Thursday',
  'Versandbestätigung: Donaudampfschifffahrtsgesellschaftskapitän, gebundene Ausgabe',
  'Reading',
  'Invoice HB-2026-000918 of the Harbour Books & Stationery Trading Company',
] as const;

const html = (subject: string) =>
  `<h1>${subject}</h1><p>Thank you for your order.</p><p><a href="https://harbour.example/orders/48377">Your orders</a></p>`;

/** Posts as the owner, or by a key. */
type Post = (path: string, body: object, apiKey?: string) => Promise<Made>;

/** Returns a function that posts to a daemon. It throws for a refused request. */
export function posts(daemon: DaemonProcess): Post {
  return async (path, body, apiKey) => {
    const request = { body, ...(apiKey !== undefined && { apiKey }) };
    const answer = await daemon.request<Made>('POST', path, request);
    if (answer.status >= 400) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
}

async function makePeople(post: Post): Promise<void> {
  const ids: string[] = [];
  for (const [name, email] of people) {
    const tags = ['reader', 'newsletter-subscriber-since-2019'];
    ids.push((await post('/v1/contacts', { email, name, tags, externalId: `crm-${name}` })).id);
  }
  const group = await post('/v1/contact-groups', {
    name: 'Readers of the monthly letter about maritime literature',
    description: 'Everybody who asked for it at the counter',
  });
  await post(`/v1/contact-groups/${group.id}/members`, { contactIds: ids });
  await post('/v1/unsubscribe-groups', {
    name: 'Monthly letter about maritime literature',
    description: 'New books, once a month',
    confirm: true,
  });
  for (const address of [`ordersandinvoicesdepartment@${host}`, 'gone@example.com']) {
    await post('/v1/email/blocks', { address, reason: 'manual' });
  }
  const conversation = await post('/v1/conversations', {
    title: 'Wrong colour of the reading lamp that was ordered for the window of the shop',
  });
  await post('/v1/messages', mailTo(people[3][1], subjects[0], conversation.id));
}

function mailTo(email: string, subject: string, conversationId?: string): object {
  return {
    channel: 'email',
    to: [{ email }],
    email: { subject, html: html(subject), text: subject },
    tags: ['order-confirmation'],
    metadata: { order: 'HB-48377' },
    ...(conversationId && { conversationId }),
  };
}

async function makeMail(post: Post, mailbox: string): Promise<void> {
  const outcomes = ['delivered', 'bounced', 'deferred', 'opened', 'complained'];
  for (const [at, outcome] of outcomes.entries()) {
    const subject = subjects[at % subjects.length] ?? '';
    await post('/v1/messages', mailTo(`${outcome}+${at}.of.the.readers@simulator.test`, subject));
  }
  for (const subject of subjects) {
    await post('/v1/messages', mailTo('inbox@sandbox.test', subject));
  }
  await post(`/v1/mailboxes/${mailbox}/drafts`, {
    to: [people[0][1]],
    subject: subjects[1],
    text: 'Dear Maximiliane',
  });
}

async function makeBuilt(post: Post, daemon: DaemonProcess): Promise<void> {
  const hook = await post('/v1/webhooks', {
    name: 'Warehouse management and shipment notification service',
    url: `https://hooks.${host}/incoming/notifications/of/the/mail/service`,
    events: ['message.delivered', 'message.bounced', 'campaign.run.completed'],
  });
  await post(`/v1/webhooks/${hook.id}/test`, {});
  await post('/v1/api-keys', {
    name: 'Warehouse management and shipment notification service',
    role: 'viewer',
  });
  const template = await post('/v1/templates', {
    name: 'Confirmation of an order, with the books and the day of arrival',
    slug: 'order-confirmation-with-the-day-of-arrival',
    channel: 'email',
    subject: 'Your order {{ number }}',
    html: '<p>Order {{ number }}</p>',
  });
  await post(`/v1/templates/${template.id}/publish`, {});
  await daemon.request('PATCH', `/v1/templates/${template.id}`, {
    body: { html: '<h1>Order {{ number }}</h1>' },
  });
  await post(`/v1/templates/${template.id}/publish`, {});
  await post('/v1/brands', {
    slug: 'harbour-books-and-stationery',
    name: 'Harbour Books & Stationery Trading Company',
  });
  const { id } = await post('/v1/email/domains', { domain: `news.${host}` });
  await post('/v1/email/senders', { email: `orders-and-invoices@news.${host}`, name: 'Orders' });
  await daemon.request('POST', `/v1/email/domains/${id}/verify`, { body: {} });
}

async function makeCampaigns(post: Post): Promise<void> {
  for (const name of ['Autumn letter about maritime literature', 'Spring']) {
    const { id } = await post('/v1/campaigns', {
      name,
      channel: 'email',
      email: { subject: name, html: html(name) },
      audience: { includeTags: ['reader'] },
      transactional: true,
    });
    await post(`/v1/campaigns/${id}/runs`, {});
  }
}

/** Fills the organization of a daemon. Returns when its mail has ended or waits for a retry. */
export async function fillShop(daemon: DaemonProcess): Promise<void> {
  const post = posts(daemon);
  const boxes = await daemon.request<Made>('GET', '/v1/mailboxes');
  const mailbox = boxes.body.items?.[0]?.id ?? '';
  await makePeople(post);
  await makeMail(post, mailbox);
  await makeBuilt(post, daemon);
  await makeCampaigns(post);
  const person = await post('/v1/api-keys', { name: 'Jo', role: 'owner', owner: 'person' });
  for (const [name, email] of people.slice(0, 3)) {
    await post('/v1/members', { email, role: 'support', name, mail: false }, person.key);
  }
  const ended = async () => {
    const at = '/v1/messages?status=queued&limit=1';
    const found = await daemon.request<Made>('GET', at);
    return found.body.items?.length === 0;
  };
  await until(ended, 'mail that has left');
}
