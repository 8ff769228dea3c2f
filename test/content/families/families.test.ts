// Families of templates and their members, on both stores (specification 2.8, 4.6); rules that they
// share with other nouns are in test/http/resources.test.ts.
import { describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { addMember, createFamily, deleteFamily } from '../../../src/content/families/families.ts';
import type { Family } from '../../../src/content/families/schema.ts';
import { createTemplate } from '../../../src/content/templates/create.ts';
import { templates } from '../../../src/content/templates/queries.ts';
import { type Template, templateNoun } from '../../../src/content/templates/schema.ts';
import type { AuditPage } from '../../../src/history/audit/schema.ts';
import { stores } from '../../support/command.ts';
import { sharedApi } from '../../support/each-app.ts';
import { makeTemplate, newSlug, type Refusal, templateBody } from '../templates/fixtures.ts';

const path = '/v1/templates/families';
const unknownFamily = 'tfam_0123456789abcdefghjk';
const unknownTemplate = 'tmpl_0123456789abcdefghjk';

describe.each(stores)('families of templates on %s', (store) => {
  const { test, api } = sharedApi({ store });

  const makeFamily = async (name = 'Orders') => (await api.post<Family>(path, { name })).body;
  const show = async (id: string) => (await api.get<Family>(`${path}/${id}`)).body;
  const add = <Body = Family>(family: string, template: string) =>
    api.request<Body>('POST', `${path}/${family}/members/${template}`);
  const remove = <Body = Family>(family: string, template: string) =>
    api.request<Body>('DELETE', `${path}/${family}/members/${template}`);

  /** Creates a family and a template in an organization of their own. */
  async function makeOthers() {
    const { id } = await createOrganization(test.app, { name: newSlug('other'), plan: 'free' });
    const operator = operatorOf(id);
    const template = await createTemplate(test.app, operator, templateBody('theirs'));
    const family = await createFamily(test.app, operator, { name: 'Theirs' });
    return { operator, template: template.id, family: family.id };
  }

  it('show their members as the specification does', async () => {
    const family = await makeFamily();
    const { id, name, slug, createdAt, updatedAt } = await makeTemplate(api);
    const { status, body } = await add(family.id, id);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...family,
      members: [
        {
          id,
          name,
          slug,
          channel: 'email',
          status: 'draft',
          isActive: false,
          createdAt,
          updatedAt,
        },
      ],
    });
    expect(await show(family.id)).toEqual(body);
  });

  it('add an existing template of any status', async () => {
    const family = await makeFamily();
    const { id } = await makeTemplate(api);
    await api.request('POST', `/v1/templates/${id}/archive`);
    const { body } = await add(family.id, id);
    expect(body.members).toMatchObject([{ id, status: 'archived', isActive: false }]);
  });

  it('stay as they are when a member is added again', async () => {
    const family = await makeFamily();
    const { id } = await makeTemplate(api);
    const first = await add(family.id, id);
    await test.clock.advance(1_000);
    expect(await add(family.id, id)).toMatchObject({ status: 200, body: first.body });
    const { body: audit } = await api.get<AuditPage>(`/v1/audit?resource=${family.id}`);
    expect(audit.items.map(({ action, details }) => [action, details])).toEqual([
      ['template-family.updated', { members: { added: id } }],
      ['template-family.created', { name: 'Orders' }],
    ]);
  });

  it('refuse a template of another family with a 409 that names it', async () => {
    const [first, second] = [await makeFamily('First'), await makeFamily('Second')];
    const { id } = await makeTemplate(api);
    await add(first.id, id);
    const { status, body } = await add<Refusal>(second.id, id);
    expect([status, body._tag]).toEqual([409, 'ConflictError']);
    expect(body.message).toContain(first.id);
    expect((await show(second.id)).members).toEqual([]);
    await remove(first.id, id);
    expect((await add(second.id, id)).status).toBe(200);
  });

  it('remove a member without deleting the template', async () => {
    const family = await makeFamily();
    const { id } = await makeTemplate(api);
    await add(family.id, id);
    const removed = await remove(family.id, id);
    expect([removed.status, removed.body.members]).toEqual([200, []]);
    const { status, body } = await api.get<Template>(`/v1/templates/${id}`);
    expect([status, body.familyId]).toEqual([200, null]);
  });

  it('ignore the removal of a template outside of them', async () => {
    const [family, other] = [await makeFamily(), await makeFamily('Other')];
    const { id } = await makeTemplate(api);
    await add(other.id, id);
    expect(await remove(family.id, id)).toMatchObject({ status: 200, body: family });
    expect((await show(other.id)).members).toHaveLength(1);
  });

  it('keep their templates when deleted', async () => {
    const family = await makeFamily();
    const { id } = await makeTemplate(api);
    await add(family.id, id);
    expect((await api.delete(`${path}/${family.id}`)).status).toBe(200);
    const { body } = await api.get<Template>(`/v1/templates/${id}`);
    expect(body).toMatchObject({ id, familyId: null, status: 'draft' });
  });

  it('lose a deleted template', async () => {
    const family = await makeFamily();
    const { id } = await makeTemplate(api);
    await add(family.id, id);
    await api.delete(`/v1/templates/${id}`);
    expect((await show(family.id)).members).toEqual([]);
  });

  it.each(['POST', 'DELETE'] as const)('answer %s of a foreign member with 404', async (method) => {
    const others = await makeOthers();
    const family = await makeFamily();
    const { id } = await makeTemplate(api);
    const cases = [
      [family.id, others.template, 'template'],
      [family.id, unknownTemplate, 'template'],
      [others.family, id, 'template-family'],
      [unknownFamily, id, 'template-family'],
    ];
    for (const [inFamily, template, resource] of cases) {
      const url = `${path}/${inFamily}/members/${template}`;
      const { status, body } = await api.request<Refusal>(method, url);
      expect([status, body._tag, body.resource]).toEqual([404, 'ResourceNotFoundError', resource]);
    }
  });

  it('do not collide with the paths of templates', async () => {
    const family = await makeFamily();
    expect((await api.get<{ items: Family[] }>(path)).body.items[0]).toEqual(family);
    const { body: templates } = await api.get<{ items: Template[] }>('/v1/templates?limit=100');
    expect(templates.items.map(({ id }) => id)).not.toContain(family.id);
    const { status, body } = await api.get<Refusal>(`${path}/tmpl_0123456789abcdefghjk`);
    expect([status, Object.keys(body.fields ?? {})]).toEqual([422, ['familyId']]);
  });

  it('refuse a malformed name with 422', async () => {
    for (const body of [
      {},
      { name: '' },
      { name: 1 },
      { name: 'a\nb' },
      { name: 'a'.repeat(201) },
    ]) {
      const answer = await api.post<Refusal>(path, body);
      const refused = [answer.status, Object.keys(answer.body.fields ?? {})];
      expect([body, ...refused]).toEqual([body, 422, ['name']]);
    }
  });

  it('refuse a member beyond 100 with 409', async () => {
    const family = await makeFamily();
    const [last, beyond] = [await makeTemplate(api), await makeTemplate(api)];
    await test.app.store.write(async (trx) => {
      const row = await templates.get(trx, test.operator.organizationId, last.id);
      for (let i = 1; i < 100; i++) {
        const id = test.app.newId(templateNoun);
        await templates.insert(trx, { ...row, id, slug: newSlug(), family_id: family.id });
      }
    });
    expect((await add(family.id, last.id)).body.members).toHaveLength(100);
    expect((await add(family.id, beyond.id)).status).toBe(409);
  });

  it('take a template once when two daemons add it to two families at once', async () => {
    const other = await test.another();
    const { operator } = test;
    for (let round = 0; round < 5; round++) {
      const [first, second] = [await makeFamily('First'), await makeFamily('Second')];
      const { id } = await makeTemplate(api);
      const done = await Promise.allSettled([
        addMember(test.app, operator, { familyId: first.id, templateId: id }),
        addMember(other, operator, { familyId: second.id, templateId: id }),
      ]);
      expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const members = [await show(first.id), await show(second.id)].flatMap((one) => one.members);
      expect(members.map((member) => member.id)).toEqual([id]);
    }
  });

  it('leave no template in a family that another daemon deletes meanwhile', async () => {
    const other = await test.another();
    const { operator } = test;
    for (let round = 0; round < 5; round++) {
      const family = await makeFamily();
      const { id } = await makeTemplate(api);
      await Promise.allSettled([
        addMember(test.app, operator, { familyId: family.id, templateId: id }),
        deleteFamily(other, operator, family.id),
      ]);
      expect((await api.get<Template>(`/v1/templates/${id}`)).body.familyId).toBeNull();
    }
  });
});
