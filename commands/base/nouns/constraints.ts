// The flags that limit a key (`svc keys create` and `update`). The schema of src/access/keys
// validates their values.
import { Flags } from '@oclif/core';
import { given } from '../input/body.ts';

export const constraintFlags = {
  'allow-sender': Flags.string({
    description: 'Allow mail from this address; may be repeated',
    multiple: true,
    helpValue: 'ADDRESS',
  }),
  'allow-domain': Flags.string({
    description: 'Allow mail from every address of this domain; may be repeated',
    multiple: true,
    helpValue: 'DOMAIN',
  }),
  'allow-ip': Flags.string({
    description: 'Allow use from this IP address or range; may be repeated',
    multiple: true,
    helpValue: 'CIDR',
  }),
  mailbox: Flags.string({
    description: 'Restrict the key to this mailbox; may be repeated',
    multiple: true,
    helpValue: 'MAILBOX_ID',
  }),
  namespace: Flags.string({
    description: 'Restrict the key to the mailboxes of this namespace',
    helpValue: 'NAMESPACE_ID',
  }),
};

/**
 * Returns the constraints that the flags give, as a field of the body; an empty object without such
 * flags.
 */
export function constraintsGiven(flags: Readonly<Record<string, unknown>>) {
  const constraints = given({
    senders: flags['allow-sender'],
    domains: flags['allow-domain'],
    ipRanges: flags['allow-ip'],
    mailboxIds: flags.mailbox,
    namespaceId: flags.namespace,
  });
  return Object.keys(constraints).length > 0 ? { constraints } : {};
}
