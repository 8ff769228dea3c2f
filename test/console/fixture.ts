// Resources for every page of the console, with strangers' text in them, and a path of each page.
import { pages } from '../../daemon/console/pages/pages.ts';
import type { Made } from './world.ts';

const probe = `"'><script>alert(1)</script><img src=x onerror=alert(1)><a href="javascript:alert(1)">`;
export const turned = 'invoice\u202Efdp.exe';

/** Posts to a route as the owner, or by another key. */
export type Post = (path: string, body: object, key?: string) => Promise<Made>;

async function makeMail(post: Post, mailbox: string): Promise<void> {
  const mail = {
    to: ['delivered@simulator.test'],
    subject: `${probe}${turned}`,
    text: probe,
    html: probe,
    attachments: [{ filename: `${turned}"'><b>.txt`, content: 'aGk=', contentType: 'text/plain' }],
  };
  await post(`/v1/mailboxes/${mailbox}/messages`, mail);
  await post(`/v1/mailboxes/${mailbox}/drafts`, {
    to: mail.to,
    subject: probe,
    text: probe,
    html: probe,
  });
  const agent = await post('/v1/api-keys', {
    name: 'agent',
    permissions: { mailboxes: ['read', 'send'] },
    constraints: { mailboxIds: [mailbox] },
    sendMode: 'approval',
  });
  await post(`/v1/mailboxes/${mailbox}/messages`, mail, agent.key);
}

async function makeInstallation(post: Post): Promise<void> {
  const { id } = await post('/v1/extensions', { name: 'triage', runtime: 'hosted' });
  const version = { version: '1.0.0', permissions: [], events: [], sendModes: ['send'] };
  await post(`/v1/extensions/${id}/versions`, version);
  await post('/v1/extension-installations', { extensionId: id, acceptPermissions: [] });
}

/** Makes a resource for each page of one. */
export async function fillPages(post: Post, mailbox: string): Promise<void> {
  await post('/v1/contacts', { email: 'ada@example.com', name: `${probe}${turned}`, tags: ['a'] });
  await post('/v1/contact-groups', { name: probe.slice(0, 80) });
  await post('/v1/unsubscribe-groups', { name: probe.slice(0, 80), confirm: true });
  await post('/v1/webhooks', { name: 'n', url: 'https://hooks.example.com/x', events: ['*'] });
  await post('/v1/api-keys', { name: probe.slice(0, 60), role: 'viewer' });
  await post('/v1/email/blocks', { address: 'blocked@example.com' });
  const campaign = await post('/v1/campaigns', {
    name: probe.slice(0, 80),
    channel: 'email',
    email: { subject: probe, html: '<p>Hi</p>' },
    audience: { includeTags: ['a'] },
    transactional: true,
  });
  await post('/v1/messages', {
    channel: 'email',
    to: [{ email: 'delivered@simulator.test', name: probe.slice(0, 60) }],
    email: { subject: `${probe}${turned}`, html: probe, text: probe },
  });
  await post(`/v1/campaigns/${campaign.id}/runs`, {});
  await post('/v1/templates', {
    name: probe.slice(0, 60),
    slug: 'hello',
    channel: 'email',
    subject: 'Hi',
    html: '<p>Hi</p>',
  });
  await post('/v1/brands', { slug: 'acme', name: probe.slice(0, 60) });
  const person = await post('/v1/api-keys', { name: 'Jo', role: 'owner', owner: 'person' });
  const member = {
    email: 'ann@example.com',
    role: 'viewer',
    name: probe.slice(0, 60),
    mail: false,
  };
  await post('/v1/members', member, person.key);
  // The newest key is the agent's: pages of a key show it.
  await makeMail(post, mailbox);
  await post('/v1/conversations', { title: probe });
  await makeInstallation(post);
}

/**
 * Follows the first link of each list to a page of one resource. Returns the path of each page that
 * has one.
 */
export async function findPaths(
  get: (path: string) => Promise<string>,
): Promise<Map<string, string>> {
  const paths = new Map<string, string>();
  const seen = new Map<string, string>();
  const bodyOf = async (path: string) => {
    const body = seen.get(path) ?? (await get(path));
    seen.set(path, body);
    return body;
  };
  for (const { path } of pages) {
    if (!path.includes(':')) {
      paths.set(path, `/console${path}`);
      continue;
    }
    const pattern = new RegExp(
      `(?:href|src)="(/console${path.replaceAll(/:\w+/g, '(?!(?:new|events|import|install)["/?])[\\w-]+')}(?:\\?[^"]*)?)"`,
    );
    const mailbox = paths.get('/mailboxes/:id');
    const sent = mailbox === undefined ? [] : [`${mailbox}?folder=sent`];
    for (const known of [...sent, ...paths.values()]) {
      const found = pattern.exec(await bodyOf(known))?.[1];
      if (found) {
        paths.set(path, found.replaceAll('&amp;', '&'));
        break;
      }
    }
  }
  return paths;
}
