// The room of each organization in the store: content, files and templates, in bytes.
import { describe, expect, it } from 'vitest';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import { createTemplate } from '../../src/content/templates/create.ts';
import { storageUsage } from '../../src/doctor/storage-usage.ts';
import { receiveMail } from '../inbox/receiving/received-mail.ts';
import { stores } from '../support/command.ts';
import { send } from '../support/delivery.ts';
import { eachApp } from '../support/each-app.ts';

describe.each(stores)('the room of organizations on %s', (store) => {
  const test = eachApp({ store });
  const usage = () => storageUsage(test.app);
  const ofDefault = async () =>
    (await usage()).organizations.find(({ name }) => name === 'default');

  it('counts content, files and templates in bytes, each where it belongs', async () => {
    const { app, caller, operator } = test;
    const before = await ofDefault();
    const email = {
      text: 'ä'.repeat(50),
      html: '<p>12345</p>',
      attachments: [{ filename: 'a.bin', content: Buffer.alloc(1_000).toString('base64') }],
    };
    await send(app, caller, 'ada@example.com', { email });
    const sent = await ofDefault();
    expect((sent?.contentBytes ?? 0) - (before?.contentBytes ?? 0)).toBe(100 + 12);
    expect([sent?.fileBytes, sent?.files]).toEqual([
      (before?.fileBytes ?? 0) + 1_000,
      (before?.files ?? 0) + 1,
    ]);

    // Equal content is stored once.
    await send(app, caller, 'bob@example.com', { email });
    expect(await ofDefault()).toEqual(sent);

    const lines = ['From: ada@example.com', 'Subject: greeting', '', 'hello'];
    await receiveMail(app, lines);
    const received = await ofDefault();
    expect(received?.files).toBe((sent?.files ?? 0) + 1);
    expect(received?.fileBytes).toBeGreaterThan((sent?.fileBytes ?? 0) + 30);

    await createTemplate(app, operator, {
      name: 'Welcome',
      slug: 'welcome',
      subject: 'Welcome',
      text: 'Hello',
    });
    const withTemplate = await ofDefault();
    expect(withTemplate?.templateBytes).toBeGreaterThan(received?.templateBytes ?? 0);
    expect(withTemplate?.totalBytes).toBe(
      (withTemplate?.contentBytes ?? 0) +
        (withTemplate?.fileBytes ?? 0) +
        (withTemplate?.templateBytes ?? 0),
    );
  });

  it('lists the largest first, and the size of the store', async () => {
    const { app, caller } = test;
    const { id } = await createOrganization(app, { name: 'acme', plan: 'free' });
    await send(app, caller, 'ada@example.com', { email: { text: 'x'.repeat(500) } });
    await createTemplate(app, operatorOf(id), {
      name: 'Welcome',
      slug: 'welcome',
      subject: 'Welcome',
      text: 'Hello',
    });
    const { organizations, storeBytes, freeBytes } = await usage();
    expect(organizations.map(({ name }) => name)).toContain('acme');
    expect(organizations.map(({ totalBytes }) => totalBytes)).toEqual(
      organizations.map(({ totalBytes }) => totalBytes).sort((a, b) => b - a),
    );
    expect(storeBytes).toBeGreaterThan(100_000);
    if (store === 'postgres') expect(freeBytes).toBeNull();
    else expect(freeBytes).toBeGreaterThanOrEqual(0);
  });
});
