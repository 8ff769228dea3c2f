// The first organization is that of the operator by a mark of its own, whatever its name.
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { organizationIdFrom } from '../../../commands/base/nouns/organization-id.ts';
import {
  createOrganization,
  getFirstOrganization,
  listOrganizations,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import { firstStart } from '../../../src/service/first-start.ts';
import { stores } from '../../support/command.ts';
import { emptyTestApp, testApp } from '../../support/test-app.ts';

describe.each(stores)('the first organization on %s', (store) => {
  it('stays the one of commands and of a start when it is renamed', async () => {
    const test = await testApp({ store });
    const { app } = test;
    try {
      const { id } = await getFirstOrganization(app.store.db);
      await updateOrganization(app, id, { name: 'acme' });
      await firstStart(app);
      expect(await organizationIdFrom(app, undefined)).toBe(id);
      expect(await organizationIdFrom(app, 'acme')).toBe(id);
      expect(await organizationIdFrom(app, 'default')).toBe(id);
      const other = await createOrganization(app, { name: 'default', plan: 'scale' });
      expect(await organizationIdFrom(app, 'default')).toBe(other.id);
      expect(await organizationIdFrom(app, undefined)).toBe(id);
    } finally {
      await test.close();
    }
  });
});

it('is made by no command but svc init', async () => {
  const test = await emptyTestApp();
  try {
    await expect(organizationIdFrom(test.app, undefined)).rejects.toThrow(
      'The store has no organization yet: run "svc init", or start the daemon',
    );
    const { total } = (await listOrganizations(test.app, { limit: 1, page: 1 })).pagination;
    expect(total).toBe(0);
  } finally {
    await test.close();
  }
  const files = globSync(['commands/**/*.ts', 'daemon/**/*.ts']);
  const starters = files.filter((file) => readFileSync(file, 'utf8').includes('firstStart('));
  expect(starters.sort()).toEqual(['commands/base/production/store.ts', 'daemon/daemon.ts']);
});

it('is looked up by its name nowhere', () => {
  const files = globSync(['src/**/*.ts', 'commands/**/*.ts', 'daemon/**/*.ts']);
  const found = files.filter((file) =>
    /findOrganizationByName\([^)]*(?:'|[dD]efault)/.test(readFileSync(file, 'utf8')),
  );
  expect(found).toEqual([]);
});
