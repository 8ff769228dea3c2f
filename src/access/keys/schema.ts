// Input and output schemas of API keys (specification 2.4, 4.3).

import { z } from 'zod';
import { domainName, emailAddress } from '../../core/api/address-schema.ts';
import { boundedMap } from '../../core/api/bounded-schema.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idOf, instant, timeRange } from '../../core/api/resource-schema.ts';
import { roles } from '../../core/config/roles.ts';
import { parseRange } from '../../platform/net/network-address.ts';
import { anyIdPattern } from '../../platform/runtime/ids.ts';
import { grantableActions } from './roles.ts';

const name = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}]+$/u, 'must be one line of text')
  .meta({ description: 'Name of the key: its purpose' });
const description = z.string().max(1000).meta({ description: 'Description of the key' });
const mostResources = 100;
const mostActions = 20;

const permissionMap = boundedMap(
  z.record(z.string(), z.array(z.string()).min(1).max(mostActions)),
  mostResources,
)
  .superRefine((map, context) => {
    if (Object.keys(map).length === 0) {
      context.addIssue({ code: 'custom', message: 'must grant a permission' });
    }
    for (const [resource, actions] of Object.entries(map)) {
      const known = grantableActions(resource);
      if (known.length === 0) {
        context.addIssue({ code: 'custom', path: [resource], message: 'is not a resource' });
        continue;
      }
      for (const [index, action] of actions.entries()) {
        if (known.includes(action)) continue;
        const message = `is not one of ${known.join(', ')}`;
        context.addIssue({ code: 'custom', path: [resource, index], message });
      }
    }
  })
  .meta({
    description: 'Resource to actions, such as {"messages": ["send", "read"]}; "*" is any',
    examples: [{ messages: ['send', 'read'] }],
  });

const mostInList = 50;

/** Schema of a list, normalized and without repeated entries. */
function listOf<T extends z.ZodType<string, string>>(entry: T) {
  return z
    .array(entry)
    .min(1, 'must name at least one; leave it out for no limit')
    .max(mostInList, `must not have more than ${mostInList} entries`)
    .transform((entries) => [...new Set(entries)]);
}

const ipRange = z
  .string()
  .max(64)
  .transform((text, context) => {
    const range = parseRange(text);
    if (range?.isAligned) return range.text;
    const message = range
      ? `has bits beyond its prefix: write ${range.text}, or a longer prefix`
      : 'is not an IP address or a range such as 203.0.113.0/24 or 2001:db8::/32';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const mailboxId = idOf('mailbox', 'is not a mailbox id');
const namespaceId = idOf('mailboxNamespace', 'is not a namespace id');

const constraintsInput = z
  .strictObject({
    senders: listOf(emailAddress).optional().meta({
      description: 'From addresses allowed for its mail, besides those in `domains`',
    }),
    domains: listOf(domainName).optional().meta({
      description: 'Domains allowed in the From of its mail; subdomains are separate',
    }),
    ipRanges: listOf(ipRange).optional().meta({
      description: 'IP addresses and CIDR ranges from which it may be used',
    }),
    mailboxIds: listOf(mailboxId).optional().meta({
      description: 'Mailboxes under which it reaches paths, and no others',
    }),
    namespaceId: namespaceId.optional().meta({
      description: 'Namespace of the mailboxes under which it reaches paths, and no others',
    }),
  })
  .refine((given) => Object.values(given).some((value) => value !== undefined), {
    message:
      'must name senders, domains, ipRanges, mailboxIds or a namespaceId; null removes the ' +
      'constraints',
  })
  .refine(({ mailboxIds, namespaceId }) => mailboxIds === undefined || namespaceId === undefined, {
    path: ['namespaceId'],
    message: 'cannot be given together with mailboxIds',
  })
  .meta({ examples: [{ domains: ['example.com'], ipRanges: ['203.0.113.0/24'] }] });

export const listKeysQuery = z.strictObject({
  createdBy: z
    .string()
    .regex(anyIdPattern, 'is not the id of a member or a key')
    .optional()
    .meta({ description: 'Only keys that this member or key made' }),
  ...pageQuery,
  ...timeRange('keys created'),
});

export const createKeyInput = z
  .strictObject({
    name: name.nullish(),
    description: description.nullish(),
    role: z.enum(roles).optional().meta({
      description: 'Role (default, without permissions: developer)',
    }),
    permissions: permissionMap.optional(),
    owner: z.enum(['person', 'service']).default('service').meta({
      description: 'Holder of the key; some operations need a person',
    }),
    mode: z.enum(['live', 'test']).default('live').meta({
      description: 'A test key reaches only simulator addresses and local mailboxes',
    }),
    expiresAt: instant.nullish().meta({ description: 'Time at which the key expires, ISO 8601' }),
    constraints: constraintsInput
      .nullish()
      .describe('Limits of the key: senders, networks and mailboxes'),
    sendMode: z.enum(['send', 'approval']).default('send').meta({
      description: 'Mail from its mailboxes goes at once, or once a person approves it',
    }),
  })
  .refine((input) => input.role === undefined || input.permissions === undefined, {
    path: ['permissions'],
    message: 'cannot be given together with role',
  })
  .refine(({ sendMode, owner }) => sendMode === 'send' || owner === 'service', {
    path: ['sendMode'],
    message: 'must be send for the key of a person: a person who approves does not propose',
  })
  .refine(
    ({ sendMode, constraints }) =>
      sendMode === 'send' ||
      constraints?.mailboxIds !== undefined ||
      constraints?.namespaceId !== undefined,
    { path: ['sendMode'], message: 'needs constraints with mailboxIds or a namespaceId' },
  )
  .meta({ examples: [{ name: 'Billing', role: 'sender' }] });

export const updateKeyInput = z
  .strictObject({
    name: name.nullable().optional(),
    description: description.nullable().optional(),
    constraints: constraintsInput.nullable().optional().meta({
      description: 'Replaces the constraints of the key; null removes them',
    }),
  })
  .meta({ examples: [{ name: 'Billing', description: 'Sends the invoices' }] });

/** 30 days: a grace period is for a roll-out, not for a second key. */
const longestGraceSeconds = 2_592_000;

export const rotateKeyInput = z
  .strictObject({
    graceSeconds: z.int().min(0).max(longestGraceSeconds).optional().meta({
      description: 'Seconds for which the old key stays valid beside the new one (default: 0)',
    }),
  })
  .meta({ examples: [{ graceSeconds: 86_400 }] });

export const keyOutput = z
  .object({
    id: z.string().describe('Id of the key'),
    name: z.string().nullable().describe('Name, for people; null without one'),
    key: z.string().nullable().meta({
      description: 'The plaintext; only in the answer to creation and rotation',
    }),
    start: z.string().meta({ description: 'First 14 characters of the plaintext' }),
    description: z.string().nullable().describe('Description; null without one'),
    createdAt: z.string().describe('Time of creation'),
    expiresAt: z.string().nullable().describe('Time of expiry; null without one'),
    lastUsedAt: z.string().nullable().meta({ description: 'Up to a minute late' }),
    isActive: z.boolean().meta({ description: 'False after the key was revoked or rotated' }),
    permissions: z
      .record(z.string(), z.array(z.string()))
      .describe('Actions by resource; `"*": ["*"]` allows everything'),
    roleName: z.string().describe('Role that the permissions come from'),
    owner: z.enum(['person', 'service']).describe('Holder of the key: a person or a program'),
    constraints: z
      .object({
        senders: z.array(z.string()).optional().describe('Allowed From addresses'),
        domains: z.array(z.string()).optional().describe('Allowed From domains'),
        ipRanges: z.array(z.string()).optional().describe('Networks that may use the key, as CIDR'),
        mailboxIds: z.array(z.string()).optional().describe('Mailboxes that the key reaches'),
        namespaceId: z.string().optional().describe('Namespace whose mailboxes the key reaches'),
      })
      .nullable()
      .meta({
        description: 'Limits of its use, of the mailboxes it reaches, and of its From addresses',
      }),
    sendMode: z
      .enum(['send', 'approval'])
      .describe('send: mail is sent at once; approval: a person approves it'),
    createdBy: z.string().nullable().describe('Member or key that made it; null for the operator'),
  })
  .meta({ id: 'ApiKey', description: 'A key of an organization' });

export type ListKeys = z.output<typeof listKeysQuery>;
export type CreateKey = z.input<typeof createKeyInput>;
export type RotateKey = z.output<typeof rotateKeyInput>;
export type UpdateKey = z.output<typeof updateKeyInput>;
export type ApiKey = z.output<typeof keyOutput>;
