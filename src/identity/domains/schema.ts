// Input and output shapes of sending domains. A sending domain is a name in A-labels, but not a
// public suffix. Only this file uses the public suffix list.
import { getDomain } from 'tldts';
import { z } from 'zod';
import { pageQuery } from '../../core/api/pagination.ts';
import { idPath, timeRange } from '../../core/api/resource-schema.ts';
import { parseAddress } from '../../platform/net/address.ts';
import { diagnosisCodes } from './diagnoses/codes.ts';

/** Longest domain: `svc99rsa._domainkey.` and the domain must fit into the 253 octets of a name. */
const longestDomain = 220;

/** A domain in normal form (lower case, A-labels), or the reason why the text is invalid. */
type DomainName = { domain: string } | { problem: string };

/** Reads a domain as people type it. Accepts IDNA and a trailing dot. */
export function readDomainName(text: string): DomainName {
  const domain = parseAddress(`postmaster@${text.replace(/\.$/, '')}`)?.domain;
  if (!domain) return { problem: 'is not a domain name such as example.com' };
  if (domain.length > longestDomain) {
    return { problem: `is longer than ${longestDomain} characters` };
  }
  if (organizationalDomain(domain) === null) {
    return { problem: 'is a public suffix: anyone may register names under it' };
  }
  return { domain };
}

/** Returns the registrable part: `example.co.uk` of `mail.example.co.uk`; null for a suffix. */
export function organizationalDomain(domain: string): string | null {
  return getDomain(domain, { allowPrivateDomains: true, validateHostname: false });
}

/**
 * Returns the name that was bought at a registry: `example.co.uk` of `mail.example.co.uk`, and
 * `github.io` of `user.github.io`. Null for a suffix of a registry.
 */
export function registeredDomain(domain: string): string | null {
  return getDomain(domain, { validateHostname: false });
}

export const domainPath = idPath('domain', 'a domain');

export const listDomainsQuery = z.strictObject({ ...pageQuery, ...timeRange('domains created') });

const domainName = z
  .string()
  .max(1000)
  .transform((text, context) => {
    const read = readDomainName(text);
    if ('domain' in read) return read.domain;
    context.addIssue({ code: 'custom', message: read.problem });
    return z.NEVER;
  });

const label = (pattern: RegExp) =>
  z
    .string()
    .max(63)
    .transform((text) => text.toLowerCase())
    .pipe(
      z
        .string()
        .regex(pattern, 'is not a DNS label: letters, digits and inner hyphens, such as news'),
    );

const hostLabel = label(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/);

const selector = label(/^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$/).meta({
  description: 'Name of the key in DNS: its record stands at SELECTOR._domainkey',
});

export const rotateDkimInput = z
  .strictObject({ selector: selector.optional() })
  .meta({ examples: [{ selector: 'autumn' }] });

const longestKey = 10_000;

export const importDkimInput = z
  .strictObject({
    selector,
    privateKey: z.string().min(1).max(longestKey).meta({
      description: 'RSA of 1024 to 4096 bits or Ed25519, in PEM; it is never shown again',
    }),
  })
  .meta({
    examples: [{ selector: 'mail', privateKey: '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw…' }],
  });

export const addDomainInput = z
  .strictObject({
    domain: domainName.meta({ description: 'Such as example.com; stored in A-labels, lower case' }),
    dkim: z.enum(['both', 'rsa', 'ed25519']).default('both').meta({
      description: 'Keys to create (every receiver checks RSA-2048)',
    }),
    returnPath: hostLabel.default('bounce').meta({
      description: 'Label of the host to which bounces come back, below the domain',
    }),
  })
  .meta({ examples: [{ domain: 'example.com' }] });

const dkimAlgorithm = z.enum(['rsa-sha256', 'ed25519-sha256']);

const dnsRecord = z
  .object({
    purpose: z
      .enum(['dkim', 'spf', 'return-path', 'dmarc', 'mx', 'tracking'])
      .describe('Purpose of the record'),
    type: z.enum(['TXT', 'MX', 'CNAME']).describe('Type of the record'),
    name: z.string().describe('Name of the record'),
    value: z
      .string()
      .meta({ description: 'Value to publish; an MX value starts with its preference' }),
    required: z
      .boolean()
      .meta({ description: 'The domain is verified when all of these are valid' }),
    status: z.enum(['pending', 'valid', 'invalid', 'missing']).meta({
      description: 'As last checked; pending: not known yet, or DNS did not answer',
    }),
    found: z.array(z.string()).meta({ description: 'Records that DNS answered' }),
    error: z.string().nullable().meta({
      description: 'The problem; of a valid record, a possible improvement',
    }),
    diagnosis: z
      .object({
        code: z.enum(diagnosisCodes).describe('Kind of the problem'),
        remedy: z.string().describe('Next step'),
      })
      .nullable()
      .meta({ description: 'Kind of the problem in `error`, and the next step' }),
    advice: z.string().optional().meta({
      description: 'Effect of publishing `value` on the present record',
    }),
    keepUntil: z.string().nullable().optional().meta({
      description: 'For the record of a replaced DKIM key: when it may be removed',
    }),
  })
  .meta({ id: 'DnsRecord', description: 'A DNS record to publish, with the last check' });

export const dnsRecordList = z.object({
  items: z.array(dnsRecord).describe('DNS records of the domain'),
});

export const domainOutput = z
  .object({
    id: z.string().describe('Id of the domain'),
    organizationId: z.string().describe('Organization of the domain'),
    domain: z.string().describe('Domain name in A-labels'),
    status: z
      .enum(['pending', 'verified', 'failed', 'temporary-failure'])
      .describe('Result of the last check; temporary-failure: DNS did not answer'),
    dkim: z
      .object({
        selector: z.string().describe('Name of the key in DNS'),
        algorithm: dkimAlgorithm.describe('Signature algorithm'),
        publicKey: z.string().describe('Public key, base64'),
      })
      .meta({ description: 'Proof of the domain by this key' }),
    dkimKeys: z
      .array(
        z.object({
          selector: z.string().describe('Name of the key in DNS'),
          algorithm: dkimAlgorithm.describe('Signature algorithm'),
          publicKey: z.string().describe('Public key, base64'),
          published: z.boolean().meta({ description: 'Found in DNS: mail is signed with the key' }),
        }),
      )
      .meta({ description: 'All keys in use or waiting to be published' }),
    returnPath: z.string().meta({ description: 'Host of the envelope sender' }),
    dnsRecords: z.array(dnsRecord).describe('DNS records to publish, with the last check of each'),
    catchAll: z
      .object({
        enabled: z.boolean().describe('Whether unknown addresses get mail'),
        mailboxId: z.string().nullable().describe('Mailbox that gets this mail; null without one'),
      })
      .describe('Receiver of mail for unknown addresses'),
    sendingStatus: z.enum(['enabled', 'held']).meta({
      description: 'held: mail from the domain is accepted and waits until the operator resumes it',
    }),
    heldAt: z.string().nullable().describe('Time at which its mail was held; null if it is not'),
    holdReason: z.string().nullable().describe('Reason of the hold; null without one'),
    verifiedAt: z.string().nullable().describe('Time of the verification; null before'),
    lastCheckedAt: z
      .string()
      .nullable()
      .describe('Time of the last check of DNS; null before the first'),
    createdAt: z.string().describe('Time of creation'),
    updatedAt: z.string().describe('Time of the last change'),
  })
  .meta({ id: 'Domain', description: 'A sending domain' });

export const resumeDomainInput = z.strictObject({
  note: z
    .string()
    .min(1)
    .max(500)
    .regex(/^[^\p{C}]+$/u, 'must be one line of text')
    .optional()
    .meta({ description: 'Findings of the review' }),
});

export type AddDomain = z.input<typeof addDomainInput>;
export type RotateDkim = z.input<typeof rotateDkimInput>;
export type ImportDkim = z.input<typeof importDkimInput>;
export type DnsRecord = z.output<typeof dnsRecord>;
export type ResumeDomain = z.input<typeof resumeDomainInput>;
export type Domain = z.output<typeof domainOutput>;

export const registrarOutput = z.object({
  domain: z.string().describe('Domain name in A-labels'),
  registrar: z
    .object({
      name: z.string().describe('Name of the registrar'),
      ianaId: z.string().nullable().describe('Number of the registrar at IANA; null if unknown'),
      url: z.string().nullable().describe('Page of the registrar; null if unknown'),
    })
    .nullable()
    .meta({ description: 'Null if RDAP does not name it' }),
  dnsHost: z
    .object({
      name: z
        .string()
        .nullable()
        .meta({ description: 'Null for name servers that we do not know' }),
      nameServers: z.array(z.string()).describe('Host names of the name servers'),
      recordsUrl: z.string().nullable().meta({ description: 'Page that edits the records' }),
    })
    .nullable()
    .meta({ description: 'Null if DNS names no name server' }),
  source: z
    .enum(['rdap', 'name-servers', 'none'])
    .describe('Source of the answer; none: nothing was found'),
  checkedAt: z.iso.datetime().describe('Time of the look-up'),
});

export type RegistrarAnswer = z.output<typeof registrarOutput>;
