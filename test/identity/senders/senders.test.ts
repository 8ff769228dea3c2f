import { beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { addDomain, deleteDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import {
  type FromAddress,
  resolveSender,
  resolveSenders,
} from '../../../src/identity/senders/resolve.ts';
import { createSender, updateSender } from '../../../src/identity/senders/senders.ts';
import { ForbiddenError } from '../../../src/platform/errors.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';

describe.each(stores)('the choice of a sender on %s', (store) => {
  const test = eachApp({ store });
  let caller: Caller;
  beforeEach(async () => {
    const { id } = await createOrganization(test.app, { name: 'acme', plan: 'free' });
    caller = operatorOf(id);
  });

  const resolve = (from?: FromAddress) =>
    resolveSender(test.app.store.db, caller.organizationId, from);

  async function verifiedDomain(domain = 'acme.example') {
    const { id } = await addDomain(test.app, caller, { domain, dkim: 'ed25519' });
    return verifyDomain(test.app, caller, id, { force: true });
  }

  it('allows every address of a verified domain', async () => {
    const domain = await verifiedDomain();
    expect(await resolve({ email: 'anyone@acme.example', name: 'Any One' })).toEqual({
      id: null,
      email: 'anyone@acme.example',
      name: 'Any One',
      domainId: domain.id,
      isLocal: false,
      replyToEmails: null,
    });
    await expect(resolve({ email: 'a@mail.acme.example' })).rejects.toThrow(ForbiddenError);
  });

  it('takes name and Reply-To of the matching sender, in any case of letters', async () => {
    const domain = await verifiedDomain();
    const { id } = await createSender(test.app, caller, {
      email: 'News@acme.example',
      name: 'Acme News',
      replyToEmails: ['help@acme.example'],
    });
    expect(await resolve({ email: 'news@acme.example' })).toEqual({
      id,
      email: 'news@acme.example',
      name: 'Acme News',
      domainId: domain.id,
      isLocal: false,
      replyToEmails: ['help@acme.example'],
    });
    expect(await resolve({ email: 'news@acme.example', name: 'Other' })).toMatchObject({
      name: 'Other',
    });
  });

  it('takes the default sender without a from', async () => {
    await verifiedDomain();
    await createSender(test.app, caller, { email: 'a@acme.example' });
    await createSender(test.app, caller, { email: 'b@acme.example', name: 'B', isDefault: true });
    expect(await resolve()).toMatchObject({ email: 'b@acme.example', name: 'B' });
  });

  it('explains without a from how to make a default sender', async () => {
    await expect(resolve()).rejects.toThrow(/no default sender.*svc senders create/);
  });

  it('refuses an address of an unverified domain, and names both and the remedy', async () => {
    const { id } = await addDomain(test.app, caller, { domain: 'acme.example', dkim: 'ed25519' });
    await createSender(test.app, caller, { email: 'a@acme.example' });
    const refusal = expect.objectContaining({
      _tag: 'ForbiddenError',
      message: `a@acme.example may not send: its domain acme.example is not verified (pending). Publish its records (\`svc domains dns ${id}\`), then run \`svc domains verify ${id}\``,
    });
    await expect(resolve({ email: 'a@acme.example' })).rejects.toEqual(refusal);
    await expect(resolve()).rejects.toEqual(refusal);
  });

  it('refuses an address of an unknown domain and of another organization', async () => {
    await expect(resolve({ email: 'a@elsewhere.example' })).rejects.toThrow(
      /^a@elsewhere.example may not send: elsewhere.example is not a domain of this organization.*svc domains add elsewhere.example/,
    );
    await expect(resolve({ email: 'hello@sandbox.test' })).rejects.toThrow(ForbiddenError);
  });

  it('refuses an inactive sender, even under a verified domain', async () => {
    await verifiedDomain();
    const { id } = await createSender(test.app, caller, { email: 'a@acme.example' });
    await updateSender(test.app, caller, id, { isActive: false });
    await expect(resolve({ email: 'A@acme.example' })).rejects.toThrow(/is inactive.*isActive/);
    await expect(resolve()).rejects.toThrow(/is inactive/);
  });

  it('refuses every address after the deletion of the domain', async () => {
    const { id } = await verifiedDomain();
    await createSender(test.app, caller, { email: 'a@acme.example' });
    await deleteDomain(test.app, caller, id);
    await expect(resolve()).rejects.toThrow(/not a domain of this organization/);
  });

  it('answers a batch in order, with refusals as values', async () => {
    await verifiedDomain();
    const { organizationId } = caller;
    const good = { organizationId, from: { email: 'a@acme.example' } };
    const bad = { organizationId, from: { email: 'a@elsewhere.example' } };
    const home = { organizationId: test.caller.organizationId, from: undefined };
    const answers = await resolveSenders(test.app.store.db, [good, bad, home, good]);
    expect(answers.map((one) => ('email' in one ? one.email : 'refused'))).toEqual([
      'a@acme.example',
      'refused',
      'hello@sandbox.test',
      'a@acme.example',
    ]);
  });
});
