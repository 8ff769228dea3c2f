// Parts that a send leaves out and the service adds: the type of a file by its name, a text from
// HTML.
import { describe, expect, it } from 'vitest';
import type { EmailProjection } from '../../../src/outbound/messages/email-schema.ts';
import { eachApi } from '../../support/each-app.ts';
import { payload, rawMail, send } from '../messages/fixtures.ts';

const { api } = eachApi();
const html = '<p>Hello <b>Ada</b></p>';

async function sent(email: Record<string, unknown>) {
  const body = payload();
  const { id } = await send(api, { ...body, email: { subject: 'Hi', ...email } });
  const { body: projection } = await api.get<EmailProjection>(`/v1/messages/${id}/email`);
  return { projection, raw: (await rawMail(api, id)).toString() };
}

describe('an attachment without a type', () => {
  it('gets one by its name, and a given one stays', async () => {
    const content = Buffer.from('x').toString('base64');
    const { projection, raw } = await sent({
      text: 'Hi',
      attachments: [
        { filename: 'invoice.pdf', content },
        { filename: 'data.csv', content, contentType: 'text/plain' },
        { filename: 'unknown', content },
      ],
    });
    expect(projection.attachments.map(({ contentType }) => contentType)).toEqual([
      'application/pdf',
      'text/plain',
      'application/octet-stream',
    ]);
    expect(raw).toMatch(/Content-Type: application\/pdf; name=invoice\.pdf/);
  });
});

describe('HTML without a text', () => {
  it('gets a text', async () => {
    const { projection, raw } = await sent({ html });
    expect(projection).toMatchObject({ html, text: 'Hello Ada\n' });
    expect(raw).toContain('Content-Type: text/plain; charset=utf-8\r\n');
    expect(raw).toContain('\r\n\r\nHello Ada\r\n');
  });

  it('stays alone when the text is empty or the HTML has no words', async () => {
    for (const email of [{ html, text: '' }, { html: '<img src="cid:a">' }]) {
      const { raw } = await sent(email);
      expect(raw).toContain('Content-Type: text/html');
      expect(raw).not.toContain('text/plain');
    }
  });
});
