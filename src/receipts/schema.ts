// The receipt of a message: the document that `svc receipt verify` and other programs check
// without this service.
import { z } from 'zod';
import { attempt, messageId } from '../outbound/messages/schema.ts';

/** Version of the document. A verifier reads version 1 too, which lacks the summary. */
export const receiptVersion = 2;

const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`));
const base64 = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/);
const hashSize = 32;
/** Most events of a receipt, the first of the message; also the most paths. */
export const mostEvents = 1_000;
const mostHashes = 40;
const mostAttempts = 2_000;

const event = z.strictObject({
  id: z.string(),
  type: z.string(),
  recipientId: z.string().nullable(),
  status: z.string(),
  timestamp: z.iso.datetime(),
  facts: z.record(z.string(), z.unknown()).nullable(),
});

const proof = z.strictObject({
  eventId: z.string(),
  index: z.int().min(0).meta({ description: 'Number of events before it in the sealed log' }),
  hashes: z
    .array(hex(hashSize))
    .max(mostHashes)
    .meta({ description: 'From the leaf of the event to the root' }),
});

const head = z.strictObject({
  size: z.int().min(1).meta({ description: 'Number of sealed events' }),
  root: hex(hashSize).meta({ description: 'Root of the Merkle tree over the sealed events' }),
  at: z.iso.datetime(),
  signature: base64.meta({ description: 'Ed25519 signature of the head' }),
  keyId: z.string(),
  publicKey: base64.meta({ description: 'The raw public key; compare its keyId' }),
});

export const receipt = z
  .strictObject({
    version: z.literal(receiptVersion),
    message: z.strictObject({
      id: messageId,
      organizationId: z.string(),
      digest: hex(hashSize)
        .nullable()
        .meta({ description: 'SHA-256 of the mail; null if none was sent or copies differ' }),
    }),
    envelope: z.strictObject({
      returnPath: z.string().nullable().meta({ description: 'Null if no server took the mail' }),
      recipients: z.array(z.string()),
    }),
    attempts: z
      .array(z.strictObject({ deliveryId: z.string(), recipient: z.string(), attempt }))
      .max(mostAttempts)
      .meta({ description: 'The latest attempts of each recipient, with the answers of servers' }),
    events: z.array(event).max(mostEvents),
    path: z.array(proof).max(mostEvents).meta({ description: 'A proof for each event' }),
    summary: z
      .strictObject({
        events: z.int().min(0).meta({ description: 'Number of events of the message' }),
        recipients: z.int().min(0).meta({ description: 'Number of recipients of the envelope' }),
        at: z.iso.datetime().meta({ description: 'Time of the head' }),
      })
      .meta({ description: 'What the log had of the message at the time of the head' }),
    summarySignature: base64.meta({ description: 'Ed25519 signature of the summary' }),
    head,
  })
  .meta({ id: 'Receipt' });
export type Receipt = z.output<typeof receipt>;

const receiptOfVersion1 = receipt
  .omit({ summary: true, summarySignature: true })
  .extend({ version: z.literal(1) });
/** A receipt of any version. */
export const anyReceipt = z.discriminatedUnion('version', [receipt, receiptOfVersion1]);
export type AnyReceipt = z.output<typeof anyReceipt>;
export type ReceiptEvent = Receipt['events'][number];
export type ReceiptAttempt = Receipt['attempts'][number];

/** Trusted keys, as `/.well-known/svc-receipts.json` has them. */
export const keyList = z.object({
  keys: z.array(z.object({ publicKey: z.string() })).max(1_000),
});
