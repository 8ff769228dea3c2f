// Saved replies: the five operations, their bounds, and an audit without words.
import { describe, expect, it } from 'vitest';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';

interface SavedReply {
  id: string;
  name: string;
  text: string;
  html: string | null;
}
const path = '/v1/saved-replies';

describe.each(stores)('a saved reply, on %s', (store) => {
  const { api } = eachApi({ store });
  const hours = { name: 'Opening hours', text: 'We are here from 9 to 17.' };

  it('is made, listed, shown, changed and deleted', async () => {
    const { status, body } = await api.post<SavedReply>(path, hours);
    expect([status, body]).toEqual([201, expect.objectContaining({ ...hours, html: null })]);
    expect(body.id).toMatch(/^rpl_/);
    const { body: page } = await api.get<{ items: SavedReply[] }>(path);
    expect(page.items).toEqual([body]);
    const own = `${path}/${body.id}`;
    const html = '<p>From <b>9</b></p>';
    const change = (body: object) => api.request<SavedReply>('PATCH', own, { body });
    expect((await change({ html })).body).toMatchObject({ ...hours, html });
    expect((await change({ html: null })).body.html).toBeNull();
    expect((await api.get<SavedReply>(own)).body.text).toBe(hours.text);
    expect((await api.delete(own)).status).toBe(200);
    expect((await api.get(own)).status).toBe(404);
  });

  it.each([
    ['name', { text: 'x' }],
    ['name', { name: '', text: 'x' }],
    ['name', { name: 'x'.repeat(101), text: 'x' }],
    ['name', { name: 'a\nb', text: 'x' }],
    ['text', { name: 'x' }],
    ['text', { name: 'x', text: '' }],
    ['text', { name: 'x', text: 'x'.repeat(20_001) }],
    ['text', { name: 'x', text: 'a\0b' }],
    ['html', { name: 'x', text: 'x', html: 'x'.repeat(20_001) }],
    ['more', { name: 'x', text: 'x', more: 1 }],
  ])('is refused for its field %s', async (field, body) => {
    const refused = await api.post<{ fields: object }>(path, body);
    expect([refused.status, Object.keys(refused.body.fields)]).toEqual([422, [field]]);
  });

  it('leaves no words in the audit', async () => {
    await api.post(path, hours);
    const { body } = await api.get<{ items: object[] }>('/v1/audit?action=saved-reply.created');
    expect(body.items).toHaveLength(1);
    expect(JSON.stringify(body.items)).not.toContain('9 to 17');
  });
});
