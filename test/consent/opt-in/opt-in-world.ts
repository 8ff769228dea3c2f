// Help for tests of double opt-in: a running loop, contacts, the mails and their links.
import { afterEach, beforeEach } from 'vitest';
import { createConfirmationLoop } from '../../../src/consent/opt-in/loop.ts';
import { confirmingPage } from '../../../src/consent/opt-in/serve.ts';
import type { DueLoop } from '../../../src/platform/store/changes/due-loop.ts';
import { eachApi } from '../../support/each-app.ts';
import type { TestAppOptions } from '../../support/test-app.ts';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
const form = { 'content-type': 'application/x-www-form-urlencoded' };

interface Mail {
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Path of its link. */
  link: string;
}

/** A service for each test with its HTTP face and the loop that mails. */
export function optInWorld(options: TestAppOptions) {
  const { test, api } = eachApi(options);
  let loop: DueLoop;
  beforeEach(() => {
    loop = createConfirmationLoop(test.app);
    loop.start();
  });
  afterEach(() => loop.stop());

  /** Lets one turn of the loop pass. */
  async function turn(ms = 1_000): Promise<void> {
    await test.clock.advance(ms);
    await loop.idle();
  }

  const group = async (more: object = {}): Promise<string> => {
    const body = { name: 'News', confirm: true, ...more };
    return (await api.post<{ id: string }>('/v1/unsubscribe-groups', body)).body.id;
  };

  const contact = async (email: string, more: object = {}): Promise<string> =>
    (await api.post<{ id: string }>('/v1/contacts', { email, ...more })).body.id;

  const add = (groupId: string, ...contactIds: string[]) =>
    api.post<{ items: { contactId: string; status: string; result: string }[] }>(
      `/v1/unsubscribe-groups/${groupId}/members`,
      { contactIds },
    );

  const members = async (groupId: string, query = '') =>
    (
      await api.get<{ items: Record<string, unknown>[]; nextCursor: string | null }>(
        `/v1/unsubscribe-groups/${groupId}/members${query}`,
      )
    ).body;

  /** Returns the mails so far, the oldest first. */
  async function mails(): Promise<Mail[]> {
    const { body } = await api.get<{ items: { id: string; recipients: { email: string }[] }[] }>(
      '/v1/messages?limit=100',
    );
    const found: Mail[] = [];
    for (const { id, recipients } of body.items.reverse()) {
      const { body: email } = await api.get<{ subject: string; text: string; html: string }>(
        `/v1/messages/${id}/email`,
      );
      const [link = ''] = /\/c\/\S+/.exec(email.text) ?? [];
      found.push({ id, to: recipients[0]?.email ?? '', link, ...email });
    }
    return found;
  }

  /** Requests a link of a mail. */
  async function ask(method: string, path: string, body?: string, app = test.app) {
    const asked = { method, path, headers: form, remoteAddress: null };
    const answer = await confirmingPage.serve(app, {
      ...asked,
      ...(body && { body: Buffer.from(body) }),
    });
    const { status = 0, headers = {}, body: page = Buffer.from('') } = answer ?? {};
    const heading = /<h1>(.*?)<\/h1>/.exec(page.toString())?.[1];
    return { status, headers, page: page.toString(), heading };
  }

  const press = (path: string, app = test.app) => ask('POST', path, 'action=confirm', app);

  return { test, api, turn, group, contact, add, members, mails, ask, press };
}
