// The receipt of a message: the document that `svc receipt verify` and other programs check
// without this service.
import { z } from 'zod';
import { attempt, messageId } from '../outbound/messages/schema.ts';

/** Version of the document. A verifier reads version 1 too, which lacks the summary. */
export const receiptVersion = 2;

const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`));
const base64 = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/);
const hashSize = 32;
/** Most events in a receipt, counted from the first event of the message; also the most paths. */
export const mostEvents = 1_000;
const mostHashes = 40;
const mostAttempts = 2_000;

const event = z.strictObject({
  id: z.string().describe('Id of the event'),
  type: z.string().describe('Kind of the event'),
  recipientId: z.string().nullable().describe('Recipient of the event; null for all recipients'),
  status: z.string().describe('Status of the message at the event'),
  timestamp: z.iso.datetime().describe('Time of the event'),
  facts: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('Facts that the log sealed with the event; null without any'),
});

const proof = z.strictObject({
  eventId: z.string().describe('Event that the hashes prove'),
  index: z.int().min(0).meta({ description: 'Number of events before it in the sealed log' }),
  hashes: z
    .array(hex(hashSize))
    .max(mostHashes)
    .meta({ description: 'From the leaf of the event to the root' }),
});

const head = z.strictObject({
  size: z.int().min(1).meta({ description: 'Number of sealed events' }),
  root: hex(hashSize).meta({ description: 'Root of the Merkle tree over the sealed events' }),
  at: z.iso.datetime().describe('Time at which the log was sealed'),
  signature: base64.meta({ description: 'Ed25519 signature of the head' }),
  keyId: z.string().describe('Id of the signing key'),
  publicKey: base64.meta({ description: 'The raw public key; compare its keyId' }),
});

export const receipt = z
  .strictObject({
    version: z.literal(receiptVersion).describe('Version of the document'),
    message: z
      .strictObject({
        id: messageId.describe('Id of the message'),
        organizationId: z.string().describe('Organization of the message'),
        digest: hex(hashSize)
          .nullable()
          .meta({ description: 'SHA-256 of the mail; null if none was sent or copies differ' }),
      })
      .describe('Message that the receipt is for'),
    envelope: z
      .strictObject({
        returnPath: z.string().nullable().meta({ description: 'Null if no server took the mail' }),
        recipients: z.array(z.string()).describe('Addresses of the recipients'),
      })
      .describe('SMTP envelope'),
    attempts: z
      .array(
        z.strictObject({
          deliveryId: z.string().describe('Delivery of the attempt'),
          recipient: z.string().describe('Address of the recipient'),
          attempt: attempt.describe('The attempt with the reply of the server'),
        }),
      )
      .max(mostAttempts)
      .meta({ description: 'The latest attempts of each recipient, with the answers of servers' }),
    events: z.array(event).max(mostEvents).describe('Events of the message, oldest first'),
    path: z.array(proof).max(mostEvents).meta({ description: 'A proof for each event' }),
    summary: z
      .strictObject({
        events: z.int().min(0).meta({ description: 'Number of events of the message' }),
        recipients: z.int().min(0).meta({ description: 'Number of recipients of the envelope' }),
        at: z.iso.datetime().meta({ description: 'Time of the head' }),
      })
      .meta({ description: 'What the log had of the message at the time of the head' }),
    summarySignature: base64.meta({ description: 'Ed25519 signature of the summary' }),
    head: head.describe('Signed state of the log'),
  })
  .meta({
    id: 'Receipt',
    description: 'Proof of the events of a message, which programs check without the service',
  });
export type Receipt = z.output<typeof receipt>;

const receiptOfVersion1 = receipt
  .omit({ summary: true, summarySignature: true })
  .extend({ version: z.literal(1) });
export const anyReceipt = z.discriminatedUnion('version', [receipt, receiptOfVersion1]);
export type AnyReceipt = z.output<typeof anyReceipt>;
export type ReceiptEvent = Receipt['events'][number];
export type ReceiptAttempt = Receipt['attempts'][number];

/** Trusted keys, as `/.well-known/svc-receipts.json` has them. */
export const keyList = z.object({
  keys: z.array(z.object({ publicKey: z.string() })).max(1_000),
});
