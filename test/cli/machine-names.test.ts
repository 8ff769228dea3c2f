// The names of this machine, whose users are no senders.
import { afterEach, describe, expect, it } from 'vitest';
import { findMachineNames, namesInHosts } from '../../commands/base/machine-names.ts';
import { addDomain } from '../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../src/identity/domains/verification.ts';
import { stores } from '../support/command.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

describe('the names of a machine', () => {
  it.each([
    ['127.0.1.1 web1.example.com WEB1 # own', ['web1', 'web1.example.com']],
    ['# 127.0.1.1 other web1\n::1 localhost\n', ['web1']],
    ['', ['web1']],
  ])('are read from %j', (hosts, expected) => {
    expect(namesInHosts('Web1', hosts)).toEqual(expected);
  });
});

describe.each(stores)('the names of a machine on %s', (store) => {
  let test: TestApp;
  afterEach(() => test.close());

  it('leave out a verified domain of the organization', async () => {
    test = await testApp({ store });
    const { app, operator } = test;
    const { id } = await addDomain(app, operator, { domain: 'web1.example.com' });
    const names = ['web1', 'web1.example.com'];
    expect(await findMachineNames(app, operator, names)).toEqual(names);
    await verifyDomain(app, operator, id, { force: true });
    expect(await findMachineNames(app, operator, names)).toEqual(['web1']);
  });
});
