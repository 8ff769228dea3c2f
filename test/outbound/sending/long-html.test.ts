// The text of HTML that is too long for the main thread: made in the parse worker, with all words.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmailProjection } from '../../../src/outbound/messages/email-schema.ts';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { payload, send } from '../messages/fixtures.ts';

const paragraphs = (count: number) =>
  Array.from({ length: count }, (_, at) => `<p>Word${at}</p>`).join('');

describe.each(stores)('the text of a send with long HTML on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  beforeAll(async () => {
    test = await testApp({ store });
    api = httpApi(test);
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  const textOf = async (html: string) => {
    const { id } = await send(api, payload({ text: undefined, html }));
    return (await api.get<EmailProjection>(`/v1/messages/${id}/email`)).body.text;
  };

  it.each([10, 3_000, 30_000])('has the words of %d paragraphs', async (count) => {
    const text = await textOf(paragraphs(count));
    expect(text?.match(/Word\d+/g)).toHaveLength(count);
    expect(text).not.toContain('The rest of this message');
  });

  it('says that the rest of HTML over 2 MB is in the HTML', async () => {
    const text = await textOf(paragraphs(200_000));
    expect(text?.match(/Word\d+/g)?.length).toBeGreaterThan(100_000);
    expect(text).toMatch(/\n\[The rest of this message is in its HTML part\.\]\n$/);
  });

  it('stays empty for pictures alone', async () => {
    expect(await textOf(`<img src="https://a.example/${'a'.repeat(40_000)}">`)).toBeFalsy();
  });
});
