// Written by `npm run client` from the routes. Do not edit.
import type {
  KeyedOptions,
  List,
  RawBody,
  RequestOptions,
  StreamOptions,
  SvcOptions,
} from './core.js';

export * from './core.js';
/** A message to send */
export type SendPayload = {
  /** Always `email` */
  channel: 'email';
  /** Recipients in To; at most 50 over to, cc and bcc */
  to: Array<{
    /** Address of the recipient; or give `contactId` */
    email?: string;
    /** Contact whose address gets the mail; or give `email` */
    contactId?: string;
    /** Display name */
    name?: string;
  }>;
  /** Recipients in Cc */
  cc?: Array<{
    /** Address of the recipient; or give `contactId` */
    email?: string;
    /** Contact whose address gets the mail; or give `email` */
    contactId?: string;
    /** Display name */
    name?: string;
  }>;
  /** Recipients in Bcc, hidden from all recipients */
  bcc?: Array<{
    /** Address of the recipient; or give `contactId` */
    email?: string;
    /** Contact whose address gets the mail; or give `email` */
    contactId?: string;
    /** Display name */
    name?: string;
  }>;
  /** A verified sender, or any address of a verified domain */
  from?: {
    /** Address of the sender */
    email: string;
    /** Display name (default: that of the sender identity) */
    name?: string;
  };
  /** Content: a subject with html or text, or a template */
  email: {
    /** Subject line; left out with a template */
    subject?: string;
    /** HTML of the mail; left out with a template */
    html?: string;
    /** Default for HTML: a text made from it; an empty text is left out of the mail */
    text?: string;
    /** Addresses that replies go to (default: those of the sender) */
    replyTo?: Array<string>;
    /** Published template to fill, by id */
    templateId?: string;
    /** Published template to fill, by slug */
    templateSlug?: string;
    /** Values for the template */
    templateData?: {
      [name: string]: unknown;
    };
    /** Files to attach, 40 MB in all once encoded */
    attachments?: Array<{
      /** File name that the reader sees */
      filename: string;
      /** The file, base64 (RFC 4648 section 4) */
      content: string;
      /** Media type with parameters (RFC 2045 5.1); default: by the file name */
      contentType?: string;
      /** Id by which the HTML shows the file, as `cid:ID` */
      contentId?: string;
    }>;
    /** Up to 50 header fields that the service does not set. `In-Reply-To` (a message id) and `References` (up to 50) continue a thread that began elsewhere */
    headers?: {
      [name: string]: string;
    };
    /** Whether opens and clicks are tracked; default: the setting of the organization. Mail without HTML is not tracked. A tracked message goes alone to each recipient */
    tracking?: {
      /** Record opens by a pixel in the HTML */
      opens?: boolean;
      /** Record clicks by rewritten links in the HTML */
      clicks?: boolean;
    };
    /** Unsubscribe group: the mail gets a link to leave it */
    unsubscribeGroupId?: string;
    /** Whether company, postal address, social links and the unsubscribe link of the brand are added; default: no. A template with `{% brand_footer %}` has them at its place */
    footer?: {
      /** Whether the mail has the footer */
      enabled: boolean;
    };
    /** Message that this mail answers: both are in the same thread */
    inReplyToMessageId?: string;
    /** Importance that mail programs show */
    priority?: 'high' | 'normal' | 'low';
  };
  /** Conversation that the message joins */
  conversationId?: string;
  /** Tags for filters, at most 10 */
  tags?: Array<string>;
  /** Values to keep with the message, at most 50 keys */
  metadata?: {
    [name: string]: string | number | boolean | null;
  };
  /** Answer 200 with what would be sent and refused, and store nothing; for single sends */
  dryRun?: boolean;
};
/** A message, sent or received */
export type Message = {
  /** Id of the message */
  id: string;
  /** Organization of the message */
  organizationId: string;
  /** Always `email` */
  channel: 'email';
  /** outbound: sent by the service; inbound: received */
  direction: 'outbound' | 'inbound';
  /** Status over all recipients */
  status:
    | 'pending'
    | 'scheduled'
    | 'queued'
    | 'processing'
    | 'sent'
    | 'delivered'
    | 'read'
    | 'failed'
    | 'bounced'
    | 'complained';
  /** Conversation of the message; null without one */
  conversationId: string | null;
  /** Campaign run that made the message; null without one */
  campaignRunId: string | null;
  /** Kind of mail, which its recipients can leave */
  unsubscribeGroupId: string | null;
  /** Subject line; null without one */
  subject: string | null;
  /** Sender */
  from: {
    /** Address of the sender */
    email: string;
    /** Display name of the sender; null without one */
    name: string | null;
  };
  /** Addresses that replies go to; null: the sender */
  replyTo: Array<string> | null;
  /** Recipients in To */
  to: Array<{
    /** Email address */
    email: string;
    /** Display name; null without one */
    name: string | null;
    /** Contact with this address; null for an unknown address */
    contactId: string | null;
  }>;
  /** Recipients in Cc */
  cc: Array<{
    /** Email address */
    email: string;
    /** Display name; null without one */
    name: string | null;
    /** Contact with this address; null for an unknown address */
    contactId: string | null;
  }>;
  /** Recipients in Bcc, hidden from all recipients */
  bcc: Array<{
    /** Email address */
    email: string;
    /** Display name; null without one */
    name: string | null;
    /** Contact with this address; null for an unknown address */
    contactId: string | null;
  }>;
  /** Every recipient with the status of the delivery */
  recipients: Array<{
    /** Email address */
    email: string;
    /** Display name; null without one */
    name: string | null;
    /** Contact with this address; null for an unknown address */
    contactId: string | null;
    /** Id of the recipient */
    id: string;
    /** Header field that names the recipient; bcc is in none */
    kind: 'to' | 'cc' | 'bcc';
    /** Status for this recipient */
    status:
      | 'pending'
      | 'scheduled'
      | 'queued'
      | 'processing'
      | 'sent'
      | 'delivered'
      | 'read'
      | 'failed'
      | 'bounced'
      | 'complained';
  }>;
  /** Deliveries, one for each recipient */
  deliveries: Array<Delivery>;
  /** Template that was filled; null for inline content */
  templateId: string | null;
  /** Number of the version of the template that was sent */
  templateVersion: number | null;
  /** Tags of the send */
  tags: Array<string>;
  /** Values that the sender of the request attached */
  metadata: {
    [name: string]: string | number | boolean | null;
  };
  /** Tracking of this message */
  tracking: {
    /** Whether opens are recorded */
    opens: boolean;
    /** Whether clicks are recorded */
    clicks: boolean;
  };
  /** Planned time of a scheduled message; null without one */
  scheduledFor: string | null;
  /** Earlier message that this one repeats or releases */
  resendOf: string | null;
  /** Origin of the message; null for received mail, and for old messages */
  origin: MessageOrigin | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
};
/** The way of a message to one recipient */
export type Delivery = {
  /** Id of the delivery */
  id: string;
  /** Message that is delivered */
  messageId: string;
  /** Recipient of the message */
  recipientId: string | null;
  /** Always `email` */
  channel: 'email';
  /** Status of this delivery */
  status:
    | 'pending'
    | 'scheduled'
    | 'queued'
    | 'processing'
    | 'sent'
    | 'delivered'
    | 'read'
    | 'failed'
    | 'bounced'
    | 'complained';
  /** Number of attempts so far */
  attemptCount: number;
  /** Most attempts before the service gives up */
  maxAttempts: number;
  /** Time at which it was queued; null before */
  queuedAt: string | null;
  /** Time at which a worker claimed it for an attempt; null before */
  claimedAt: string | null;
  /** Time of the latest attempt; null before the first */
  lastAttemptAt: string | null;
  /** Time of the next attempt; null if none is planned */
  nextRetryAt: string | null;
  /** Time at which a server accepted the mail; null before */
  sentAt: string | null;
  /** Time at which the mail counted as delivered; null before */
  deliveredAt: string | null;
  /** Time of the first recorded open; null before */
  readAt: string | null;
  /** Time at which it failed for good; null if it did not */
  failedAt: string | null;
  /** Time at which it reached a final status; null before */
  terminalAt: string | null;
  /** Code of the latest error; null without one */
  errorCode: string | null;
  /** Words of the latest error; null without one */
  errorMessage: string | null;
  /** Details of the latest error; null without any */
  errorDetails: unknown;
  /** Cost of the delivery with six decimals; `0` for a self-hosted plan */
  cost: string;
  /** Currency of the cost, ISO 4217 */
  currency: string;
  /** Idempotency key of the send; null without one */
  idempotencyKey: string | null;
  /** Configuration key that kept the mail on this machine although its `status` is `delivered` (`delivery.mode`, `delivery.allow`, `delivery.routes.0`) */
  metadata: {
    /** Present if the mail was captured */
    captured: {
      /** Configuration key that captured it */
      by: string;
    };
  } | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
  /** Schedule of a waiting delivery; null if it does not wait */
  scheduling: {
    /** Time of the next attempt; null if none is planned */
    dueAt: string | null;
    /** Time at which the service gives up; null without one */
    expiresAt: string | null;
    /** Reason to wait; null if it does not wait */
    waitReason:
      | 'rate'
      | 'daily-quota'
      | 'domain-health'
      | 'tenant-health'
      | 'provider-unavailable'
      | 'retry'
      | 'campaign-paused'
      | null;
    /** Hold of the operator, until its release; null without one */
    hold: {
      /** Id of the hold */
      id: string;
      /** Note of the operator; null without one */
      reason: string | null;
      /** Command that lifts the hold */
      release: string;
    } | null;
  } | null;
  /** The latest attempts, oldest first */
  attempts: Array<DeliveryAttempt>;
};
/** An attempt to hand a mail to a server */
export type DeliveryAttempt = {
  /** Number of the attempt, from 1 */
  number: number;
  /** Time of the attempt */
  at: string;
  /** Duration in milliseconds */
  durationMs: number;
  /** Host name of the server; null if none was reached */
  host: string | null;
  /** IP address of the server; null if none was reached */
  address: string | null;
  /** TLS version and cipher; null without TLS */
  tls: string | null;
  /** sent: the server accepted the mail; deferred: tried again later; bounced, failed: the end */
  outcome: 'sent' | 'deferred' | 'bounced' | 'failed';
  /** SMTP reply code, such as 250; null without a reply */
  code: number | null;
  /** Enhanced status code (RFC 3463), such as 5.1.1; null without one */
  enhancedCode: string | null;
  /** Reply of the server, or our own words on the failure */
  reply: string;
  /** SMTP command that the reply answers */
  verb: string;
  /** Lines of the SMTP dialogue; null if not kept */
  transcript: string | null;
  /** Configuration key that kept the mail on this machine: nothing was sent */
  capturedBy?: string;
  /** Message that later sent this captured copy to its recipient */
  releasedAs?: string;
  /** Time and DKIM selectors of the signatures of this attempt */
  signedWith?: {
    /** Time of the signatures */
    at: string;
    /** DKIM selectors */
    selectors: Array<string>;
  };
  /** Beginning of the tracking and unsubscribe links of this attempt */
  linkBase?: string;
  /** SHA-256 of the message that the server accepted, in hex */
  digest?: string;
  /** True if 8-bit parts were encoded, since the server offers no 8BITMIME */
  sevenBit?: boolean;
  /** Return path of the message that the server accepted, its token as `*` */
  returnPath?: string;
  /** Certificates of the server that accepted it, its own first */
  certificates?: Array<{
    /** Subject of the certificate */
    subject: string;
    /** SHA-256 of the certificate, in hex */
    sha256: string;
  }>;
  /** Rule that proved the name of the server that accepted it */
  policy?: 'dane' | 'mta-sts';
};
/** Origin of a message */
export type MessageOrigin = {
  /** `service`: mail that the service wrote itself */
  via: 'api' | 'command' | 'smtp' | 'sendmail' | 'service';
  /** Key or member; null for the operator */
  keyId: string | null;
  /** Name of the key or member then */
  keyName: string | null;
  /** User name of the login over SMTP; for sendmail, the user of the system */
  user: string | null;
};
/** A send as it would be accepted or refused now */
export type DryRunResult = {
  /** Whether the send would be accepted now */
  valid: boolean;
  /** Each reason that would refuse the send, in the order of the checks */
  problems: Array<{
    /** Of the error that would refuse the send */
    _tag: string;
    /** Dotted path of the field at fault; null for the whole request */
    field: string | null;
    /** Sentence on the problem and the remedy */
    message: string;
  }>;
  /** Subject line as it would be sent; null if it cannot be made */
  subject: string | null;
  /** Preview line of the template; null without one */
  preheader: string | null;
  /** HTML as it would be sent; null without any */
  html: string | null;
  /** Plain text as it would be sent; null without any */
  text: string | null;
  /** Size of the mail before its signatures; null without a sender */
  sizeBytes: number | null;
  /** Advice on the content */
  warnings: Array<TemplateWarning>;
  /** Recipients that would get nothing, as they are blocked */
  suppressed: Array<{
    /** Blocked address */
    address: string;
    /** Reason of the block */
    reason: string;
  }>;
};
/** Advice about content, which refuses nothing */
export type TemplateWarning = {
  /** Short name of the rule, such as `image-without-alt` */
  code: string;
  /** Sentence on the problem and the remedy */
  message: string;
  /** The file, if the warning is about one */
  path: string | null;
  /** Line in the file, from 1 */
  line: number | null;
};
/** Result of one send of a batch */
export type BatchResult =
  | {
      /** Its place in the request, from 0 */
      index: number;
      /** Message that was accepted */
      message: Message;
    }
  | {
      /** Its place in the request, from 0 */
      index: number;
      /** The error object of this send, as if it had been sent alone */
      error: {
        [name: string]: unknown;
      };
    };
/** A message to send later */
export type ScheduledPayload = {
  /** Always `email` */
  channel: 'email';
  /** Recipients in To; at most 50 over to, cc and bcc */
  to: Array<{
    /** Address of the recipient; or give `contactId` */
    email?: string;
    /** Contact whose address gets the mail; or give `email` */
    contactId?: string;
    /** Display name */
    name?: string;
  }>;
  /** Recipients in Cc */
  cc?: Array<{
    /** Address of the recipient; or give `contactId` */
    email?: string;
    /** Contact whose address gets the mail; or give `email` */
    contactId?: string;
    /** Display name */
    name?: string;
  }>;
  /** Recipients in Bcc, hidden from all recipients */
  bcc?: Array<{
    /** Address of the recipient; or give `contactId` */
    email?: string;
    /** Contact whose address gets the mail; or give `email` */
    contactId?: string;
    /** Display name */
    name?: string;
  }>;
  /** A verified sender, or any address of a verified domain */
  from?: {
    /** Address of the sender */
    email: string;
    /** Display name (default: that of the sender identity) */
    name?: string;
  };
  /** Content: a subject with html or text, or a template */
  email: {
    /** Subject line; left out with a template */
    subject?: string;
    /** HTML of the mail; left out with a template */
    html?: string;
    /** Default for HTML: a text made from it; an empty text is left out of the mail */
    text?: string;
    /** Addresses that replies go to (default: those of the sender) */
    replyTo?: Array<string>;
    /** Published template to fill, by id */
    templateId?: string;
    /** Published template to fill, by slug */
    templateSlug?: string;
    /** Values for the template */
    templateData?: {
      [name: string]: unknown;
    };
    /** Files to attach, 40 MB in all once encoded */
    attachments?: Array<{
      /** File name that the reader sees */
      filename: string;
      /** The file, base64 (RFC 4648 section 4) */
      content: string;
      /** Media type with parameters (RFC 2045 5.1); default: by the file name */
      contentType?: string;
      /** Id by which the HTML shows the file, as `cid:ID` */
      contentId?: string;
    }>;
    /** Up to 50 header fields that the service does not set. `In-Reply-To` (a message id) and `References` (up to 50) continue a thread that began elsewhere */
    headers?: {
      [name: string]: string;
    };
    /** Whether opens and clicks are tracked; default: the setting of the organization. Mail without HTML is not tracked. A tracked message goes alone to each recipient */
    tracking?: {
      /** Record opens by a pixel in the HTML */
      opens?: boolean;
      /** Record clicks by rewritten links in the HTML */
      clicks?: boolean;
    };
    /** Unsubscribe group: the mail gets a link to leave it */
    unsubscribeGroupId?: string;
    /** Whether company, postal address, social links and the unsubscribe link of the brand are added; default: no. A template with `{% brand_footer %}` has them at its place */
    footer?: {
      /** Whether the mail has the footer */
      enabled: boolean;
    };
    /** Message that this mail answers: both are in the same thread */
    inReplyToMessageId?: string;
    /** Importance that mail programs show */
    priority?: 'high' | 'normal' | 'low';
  };
  /** Conversation that the message joins */
  conversationId?: string;
  /** Tags for filters, at most 10 */
  tags?: Array<string>;
  /** Values to keep with the message, at most 50 keys */
  metadata?: {
    [name: string]: string | number | boolean | null;
  };
  /** Time of sending: not past, and within a year */
  scheduledFor: string;
  /** Repeating a request with the same key returns the original message */
  idempotencyKey?: string | null;
};
/** A message with text, codes and links */
export type ExpectedMessage = {
  /** Message that arrived */
  message: Message;
  /** Text of the mail, made from the HTML if it has no text */
  text: string | null;
  /** Codes in the mail, such as sign-in codes */
  codes: Array<{
    /** Digits without spaces and prefix */
    value: string;
    /** Words around it */
    context: string;
  }>;
  /** Links in the mail */
  links: Array<{
    /** Target of the link */
    url: string;
    /** Words that a reader sees in its place */
    text: string;
  }>;
};
/** A message as an email, with header fields, text and checks */
export type EmailProjection = {
  /** Deliveries, one for each recipient */
  deliveries: Array<Delivery>;
  /** Id of the message */
  id: string;
  /** Organization of the message */
  organizationId: string;
  /** Conversation of the message; null without one */
  conversationId: string | null;
  /** Status over all recipients */
  status:
    | 'pending'
    | 'scheduled'
    | 'queued'
    | 'processing'
    | 'sent'
    | 'delivered'
    | 'read'
    | 'failed'
    | 'bounced'
    | 'complained';
  /** Always `email` */
  channel: 'email';
  /** outbound: sent by the service; inbound: received */
  direction: 'outbound' | 'inbound';
  /** Subject line; null without one */
  subject: string | null;
  /** Address of the sender */
  fromEmail: string;
  /** Display name of the sender; null without one */
  fromName: string | null;
  /** Addresses in To */
  toEmails: Array<string>;
  /** Addresses in Cc; null without any */
  ccEmails: Array<string> | null;
  /** Addresses in Bcc; null without any */
  bccEmails: Array<string> | null;
  /** Addresses in Reply-To; null without any */
  replyToEmails: Array<string> | null;
  /** Value of the header field Message-ID */
  messageIdHeader: string;
  /** Value of the header field In-Reply-To; null without one */
  inReplyTo: string | null;
  /** Message ids in the header field References; null without any */
  references: Array<string> | null;
  /** Place in the thread, from 0; null outside a thread */
  threadPosition: number | null;
  /** The sender's own words as plain text, without quotations and signatures. Of a mail forwarded without a word, its text */
  newContent: string | null;
  /** All that newContent leaves out, as plain text: quotations with the lines that introduce them, forwarded mail, and signatures */
  quotedContent: string | null;
  /** False for a signature alone */
  hasQuotedContent: boolean;
  /** Result of the check of DKIM signatures; null for sent mail */
  dkimVerdict:
    | 'pass'
    | 'fail'
    | 'softfail'
    | 'neutral'
    | 'none'
    | 'policy'
    | 'temperror'
    | 'permerror'
    | null;
  /** Result of the check of SPF; null for sent mail */
  spfVerdict:
    | 'pass'
    | 'fail'
    | 'softfail'
    | 'neutral'
    | 'none'
    | 'policy'
    | 'temperror'
    | 'permerror'
    | null;
  /** Result of the check of DMARC; null for sent mail */
  dmarcVerdict:
    | 'pass'
    | 'fail'
    | 'softfail'
    | 'neutral'
    | 'none'
    | 'policy'
    | 'temperror'
    | 'permerror'
    | null;
  /** Whether a program wrote the mail as an answer */
  isAutoReply: boolean;
  /** Kind of the automatic answer; null for other mail */
  autoReplyReason: 'out-of-office' | 'auto-response' | 'delivery-status' | 'read-receipt' | null;
  /** URL in List-Unsubscribe; null without one */
  listUnsubscribeUrl: string | null;
  /** Address in List-Unsubscribe; null without one */
  listUnsubscribeEmail: string | null;
  /** Importance by the header fields; null without one */
  priority: 'high' | 'normal' | 'low' | null;
  /** Faults that the parser found; null without any */
  parsingErrors: Array<{
    /** Kind of the fault */
    code: string;
    /** Sentence on the fault */
    message: string;
    /** Number of the MIME part, as in IMAP */
    part?: string;
  }> | null;
  /** HTML of the mail; null without any */
  html: string | null;
  /** Plain text of the mail; null without any */
  text: string | null;
  /** Attached files */
  attachments: Array<{
    /** File name; null without one */
    filename: string | null;
    /** Media type */
    contentType: string;
    /** Id by which the HTML shows the file; null without one */
    contentId: string | null;
    /** Size in bytes */
    size: number;
  }>;
  /** Result of the check of the ARC chain; null for sent mail */
  arcVerdict:
    | 'pass'
    | 'fail'
    | 'softfail'
    | 'neutral'
    | 'none'
    | 'policy'
    | 'temperror'
    | 'permerror'
    | null;
  /** All results of the checks, as the value of that header field (RFC 8601) */
  authenticationResults: string | null;
  /** Signed URLs of the parts, if the request asks for them */
  storageUrls?: {
    /** URL of the whole mail (MIME) */
    raw: string;
    /** URL of the HTML; null without any */
    html: string | null;
    /** URL of the plain text; null without any */
    text: string | null;
    /** Time at which the URLs expire */
    expiresAt: string;
  };
};
/** One-time codes, the likeliest first, and links in their order */
export type MailExtracts = {
  /** Codes in the mail, such as sign-in codes */
  codes: Array<{
    /** Digits without spaces and prefix */
    value: string;
    /** Words around it */
    context: string;
  }>;
  /** Links in the mail */
  links: Array<{
    /** Target of the link */
    url: string;
    /** Words that a reader sees in its place */
    text: string;
  }>;
};
/** An event in the timeline of a message */
export type MessageEvent = {
  /** Id of the event */
  id: string;
  /** Message of the event */
  messageId: string;
  /** Kind of the event, such as `accepted` or `delivered` */
  eventType: string;
  /** Status of the message at the event */
  status: string;
  /** Time of the event */
  timestamp: string;
  /** Details of the event, such as the recipient and the reply */
  metadata: {
    [name: string]: unknown;
  };
};
/** State and next step of a message, in words */
export type MessageExplanation = {
  /** Id of the message */
  messageId: string;
  /** Subject line; null without one */
  subject: string | null;
  /** Status over all recipients */
  status:
    | 'pending'
    | 'scheduled'
    | 'queued'
    | 'processing'
    | 'sent'
    | 'delivered'
    | 'read'
    | 'failed'
    | 'bounced'
    | 'complained';
  /** Time of creation */
  createdAt: string;
  /** Number of recipients by status, as a sentence */
  summary: string;
  /** Explanation for each recipient */
  recipients: Array<RecipientExplanation>;
};
/** State and next step of the delivery to a recipient, in words */
export type RecipientExplanation = {
  /** Id of the recipient */
  recipientId: string;
  /** Delivery to the recipient */
  deliveryId: string;
  /** Header field that names the recipient; null if unknown */
  kind: 'to' | 'cc' | 'bcc' | null;
  /** Address of the recipient */
  email: string;
  /** Status for this recipient */
  status:
    | 'pending'
    | 'scheduled'
    | 'queued'
    | 'processing'
    | 'sent'
    | 'delivered'
    | 'read'
    | 'failed'
    | 'bounced'
    | 'complained';
  /** State of the delivery in the queue */
  state: 'ready' | 'waiting' | 'in-lane' | 'held' | 'claimed' | 'ended';
  /** Sentence on the last event */
  happened: string;
  /** Time of the last event */
  happenedAt: string;
  /** Null if the delivery does not wait, or was not checked since it began to wait */
  waitReason:
    | 'rate'
    | 'daily-quota'
    | 'domain-health'
    | 'tenant-health'
    | 'provider-unavailable'
    | 'retry'
    | 'campaign-paused'
    | null;
  /** Reason for which it waits */
  because: string | null;
  /** The next step, by the service or by the reader */
  next: string | null;
  /** Time of the next step; null if none is planned */
  nextAt: string | null;
  /** Command that helps */
  help: {
    /** Purpose of the command */
    purpose: string;
    /** Command to type */
    command: string;
  } | null;
  /** Null if no server was asked */
  said: ServerWords | null;
  /** Code of the latest error; null without one */
  errorCode: string | null;
  /** Cause that the reply names */
  cause?: string;
  /** Step that removes the cause */
  remedy?: string;
  /** Sentence on refusals of addresses behind the recipient, from three of them in 30 days on */
  memberRefusals?: string;
  /** Number of attempts so far */
  attemptCount: number;
  /** The latest attempts, oldest first */
  attempts: Array<DeliveryAttempt>;
};
/** Last reply of a server */
export type ServerWords = {
  /** SMTP reply code, such as 550; null without a reply */
  code: number | null;
  /** Enhanced status code (RFC 3463); null without one */
  enhancedCode: string | null;
  /** Text of the reply */
  reply: string;
  /** `DSN` for a bounce that came by mail */
  verb: string;
  /** Host name of the server; null if none was reached */
  host: string | null;
  /** IP address of the server; null if none was reached */
  address: string | null;
};
/** Proof of the events of a message, which programs check without the service */
export type Receipt = {
  /** Version of the document */
  version: 2;
  /** Message that the receipt is for */
  message: {
    /** Id of the message */
    id: string;
    /** Organization of the message */
    organizationId: string;
    /** SHA-256 of the mail; null if none was sent or copies differ */
    digest: string | null;
  };
  /** SMTP envelope */
  envelope: {
    /** Null if no server took the mail */
    returnPath: string | null;
    /** Addresses of the recipients */
    recipients: Array<string>;
  };
  /** The latest attempts of each recipient, with the answers of servers */
  attempts: Array<{
    /** Delivery of the attempt */
    deliveryId: string;
    /** Address of the recipient */
    recipient: string;
    /** The attempt with the reply of the server */
    attempt: DeliveryAttempt;
  }>;
  /** Events of the message, oldest first */
  events: Array<{
    /** Id of the event */
    id: string;
    /** Kind of the event */
    type: string;
    /** Recipient of the event; null for all recipients */
    recipientId: string | null;
    /** Status of the message at the event */
    status: string;
    /** Time of the event */
    timestamp: string;
    /** Facts that the log sealed with the event; null without any */
    facts: {
      [name: string]: unknown;
    } | null;
  }>;
  /** A proof for each event */
  path: Array<{
    /** Event that the hashes prove */
    eventId: string;
    /** Number of events before it in the sealed log */
    index: number;
    /** From the leaf of the event to the root */
    hashes: Array<string>;
  }>;
  /** What the log had of the message at the time of the head */
  summary: {
    /** Number of events of the message */
    events: number;
    /** Number of recipients of the envelope */
    recipients: number;
    /** Time of the head */
    at: string;
  };
  /** Ed25519 signature of the summary */
  summarySignature: string;
  /** Signed state of the log */
  head: {
    /** Number of sealed events */
    size: number;
    /** Root of the Merkle tree over the sealed events */
    root: string;
    /** Time at which the log was sealed */
    at: string;
    /** Ed25519 signature of the head */
    signature: string;
    /** Id of the signing key */
    keyId: string;
    /** The raw public key; compare its keyId */
    publicKey: string;
  };
};
/** An address that receives mail */
export type Mailbox = {
  /** Id of the mailbox */
  id: string;
  /** Namespace of the mailbox */
  namespaceId: string;
  /** Slug, the usual local part of the address */
  slug: string;
  /** Display name of the address; null without one */
  displayName: string | null;
  /** State of the mailbox; a paused mailbox neither sends nor receives */
  status: 'active' | 'paused' | 'deleted';
  /** First address of the mailbox */
  primaryAddress: string;
  /** Time of creation */
  createdAt: string;
  /** Description of the mailbox; null without one */
  description: string | null;
  /** Texts of your own by name */
  metadata: {
    [name: string]: string;
  };
  /** All addresses of the mailbox */
  addresses: Array<{
    /** Id of the address */
    id: string;
    /** Email address */
    address: string;
    /** serviceHosted: on the domain of the service; customDomain: on a verified domain */
    source: 'serviceHosted' | 'customDomain';
    /** Verified domain; null for the domain of the service */
    domainId: string | null;
    /** Display name; null without one */
    displayName: string | null;
  }>;
  /** From of mail from this mailbox */
  defaultFrom: {
    /** Address of the From field */
    address: string;
    /** Display name; null without one */
    displayName: string | null;
  };
  /** Filters of senders; unwanted mail goes to `spam` */
  filters: {
    /** Wanted addresses and domains; empty: all senders are wanted */
    allow: Array<string>;
    /** Unwanted addresses and domains */
    block: Array<string>;
  };
  /** Time of the last change */
  updatedAt: string;
};
/** Outcome of a mail from a mailbox */
export type ReplyResult = {
  /** Null for the operator at the command line, and if nothing was done */
  actionId: string | null;
  /** Null until the mail is sent */
  messageId: string | null;
  /** Thread of the mail; null until it has one */
  threadId: string | null;
  /** sent: handed to delivery; proposed: waits for approval by a person; skipped: no recipient was left */
  status: 'sent' | 'proposed' | 'skipped';
  /** Reason why delivery waits; null if it does not */
  waitReason:
    | 'rate'
    | 'daily-quota'
    | 'domain-health'
    | 'tenant-health'
    | 'provider-unavailable'
    | 'retry'
    | 'campaign-paused'
    | null;
  /** Expected time of the decision on a proposal; null without one */
  reviewExpectedAt: string | null;
  /** Recipients that get nothing */
  skippedRecipients: Array<{
    /** Address as it was given */
    address: string;
    /** Reason of the block; malformed: not an address */
    reason: 'bounce' | 'complaint' | 'unsubscribe' | 'manual' | 'malformed';
    /** Group of the unsubscribe; null for a block of all mail */
    unsubscribeGroupId: string | null;
  }>;
  /** Time of the request */
  createdAt: string;
};
/** A mail that is not sent yet */
export type Draft = {
  /** Id of the draft */
  id: string;
  /** Mailbox of the draft */
  mailboxId: string;
  /** Thread of the draft */
  threadId: string;
  /** Message that the draft answers; null for new mail */
  inReplyToMessageId: string | null;
  /** Addresses in To */
  to: Array<string>;
  /** Addresses in Cc */
  cc: Array<string>;
  /** Addresses in Bcc */
  bcc: Array<string>;
  /** Subject line; null without one */
  subject: string | null;
  /** Plain text; null without any */
  text: string | null;
  /** HTML; null without any */
  html: string | null;
  /** In lists, text and html of a draft over 64 KB are null */
  contentOmitted: boolean;
  /** Attached files */
  attachments: Array<{
    /** Name of the file, such as invoice.pdf */
    filename: string;
    /** Media type; null if not given */
    contentType: string | null;
    /** Size in bytes */
    size: number;
  }>;
  /** Author of the first version */
  author: {
    /** Kind of the author: a person, a key or an installation of an extension */
    kind: 'user' | 'key' | 'installation';
    /** Id of the key or installation; null for the operator */
    id: string | null;
    /** Name of the author at that time; null without one */
    displayName: string | null;
  };
  /** Last editor; null until the first change */
  editedBy: {
    /** Kind of the author: a person, a key or an installation of an extension */
    kind: 'user' | 'key' | 'installation';
    /** Id of the key or installation; null for the operator */
    id: string | null;
    /** Name of the author at that time; null without one */
    displayName: string | null;
  } | null;
  /** Proposal to send the draft */
  actionId: string | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
};
/** A draft, with the mail that would leave */
export type ShownDraft = {
  /** Id of the draft */
  id: string;
  /** Mailbox of the draft */
  mailboxId: string;
  /** Thread of the draft */
  threadId: string;
  /** Message that the draft answers; null for new mail */
  inReplyToMessageId: string | null;
  /** Addresses in To */
  to: Array<string>;
  /** Addresses in Cc */
  cc: Array<string>;
  /** Addresses in Bcc */
  bcc: Array<string>;
  /** Subject line; null without one */
  subject: string | null;
  /** Plain text; null without any */
  text: string | null;
  /** HTML; null without any */
  html: string | null;
  /** In lists, text and html of a draft over 64 KB are null */
  contentOmitted: boolean;
  /** Attached files */
  attachments: Array<{
    /** Its number in the mail, from 1 */
    n: number;
    /** Name of the file, such as invoice.pdf */
    filename: string;
    /** Media type; null if not given */
    contentType: string | null;
    /** Id by which the HTML shows it inline */
    contentId: string | null;
    /** Bytes */
    size: number;
  }>;
  /** Author of the first version */
  author: {
    /** Kind of the author: a person, a key or an installation of an extension */
    kind: 'user' | 'key' | 'installation';
    /** Id of the key or installation; null for the operator */
    id: string | null;
    /** Name of the author at that time; null without one */
    displayName: string | null;
  };
  /** Last editor; null until the first change */
  editedBy: {
    /** Kind of the author: a person, a key or an installation of an extension */
    kind: 'user' | 'key' | 'installation';
    /** Id of the key or installation; null for the operator */
    id: string | null;
    /** Name of the author at that time; null without one */
    displayName: string | null;
  } | null;
  /** Proposal to send the draft */
  actionId: string | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
  /** Sender of the mail */
  from: {
    /** Address of the sender */
    email: string;
    /** Display name of the sender; null without one */
    name: string | null;
  };
  /** Addresses that replies go to */
  replyTo: Array<string>;
  /** Sentences on what the HTML has beside its words: hidden words, pictures of other servers, forms, words of style sheets, parts for Outlook */
  notes: Array<string>;
  /** Digest of the mail that would leave now */
  digest: string;
};
/** An action or a proposal in a mailbox */
export type MailboxAction = {
  /** Id of the action */
  id: string;
  /** Mailbox of the action */
  mailboxId: string;
  /** Type of the action */
  type: 'sendMessage' | 'reply' | 'forward' | 'label' | 'move' | 'note';
  /** State of the action; a proposal begins as proposed */
  state: 'proposed' | 'approved' | 'rejected' | 'executed' | 'failed' | 'expired';
  /** Key, installation or member that acted */
  actor: {
    /** Kind of the actor: a person, a key or an installation of an extension */
    kind: 'user' | 'key' | 'installation';
    /** Null for the operator at the command line */
    id: string | null;
    /** Name of the actor at that time; null without one */
    displayName: string | null;
  };
  /** Id of the sent message; null until it is sent */
  messageId: string | null;
  /** Thread of the action; null without one */
  threadId: string | null;
  /** For a send: from, to, cc, bcc, subject, preview and the number of attachments; for a proposal also replyTo */
  summary: {
    [name: string]: unknown;
  };
  /** Time of the action or proposal */
  createdAt: string;
  /** Time of the decision; null without one */
  decidedAt: string | null;
  /** Person who decided; null without a decision */
  decidedBy: {
    /** Kind of the actor: a person, a key or an installation of an extension */
    kind: 'user' | 'key' | 'installation';
    /** Null for the operator at the command line */
    id: string | null;
    /** Name of the actor at that time; null without one */
    displayName: string | null;
  } | null;
  /** Note on the decision */
  note: string | null;
  /** Time at which a proposal expires */
  expiresAt: string | null;
  /** Reason for which an approved proposal could not be sent, or expired early */
  failure: {
    /** Kind of the error */
    _tag: string;
    /** Sentence on the error */
    message: string;
  } | null;
  /** Digest of the proposed MIME (`…/raw`): `sha256:` and hexadecimal digits. It is sent without Bcc, and after Date, Message-ID, DKIM-Signature and X-Service-Token */
  digest: string | null;
  /** Digest of the MIME that was sent, if `decidedBy` edited it; else null */
  editedDigest: string | null;
};
/** Counts of the events of a mailbox */
export type MailboxActivity = {
  /** Actions of keys and installations */
  actions: {
    /** Number of actions by type */
    byType: Array<{
      /** Type of the actions */
      type: string;
      /** Number of actions */
      count: number;
    }>;
    /** Number of actions by state */
    byState: Array<{
      /** State of the actions */
      state: string;
      /** Number of actions */
      count: number;
    }>;
  };
  /** Events of the mailbox */
  events: {
    /** Number of events by kind */
    byType: Array<{
      /** Kind of the events */
      type: string;
      /** Number of events */
      count: number;
    }>;
  };
  /** Sends that now wait for approval */
  pendingApprovals: number;
};
/** An action, with the mail of a proposal */
export type ShownMailboxAction = {
  /** Id of the action */
  id: string;
  /** Mailbox of the action */
  mailboxId: string;
  /** Type of the action */
  type: 'sendMessage' | 'reply' | 'forward' | 'label' | 'move' | 'note';
  /** State of the action; a proposal begins as proposed */
  state: 'proposed' | 'approved' | 'rejected' | 'executed' | 'failed' | 'expired';
  /** Key, installation or member that acted */
  actor: {
    /** Kind of the actor: a person, a key or an installation of an extension */
    kind: 'user' | 'key' | 'installation';
    /** Null for the operator at the command line */
    id: string | null;
    /** Name of the actor at that time; null without one */
    displayName: string | null;
  };
  /** Id of the sent message; null until it is sent */
  messageId: string | null;
  /** Thread of the action; null without one */
  threadId: string | null;
  /** For a send: from, to, cc, bcc, subject, preview and the number of attachments; for a proposal also replyTo */
  summary: {
    [name: string]: unknown;
  };
  /** Time of the action or proposal */
  createdAt: string;
  /** Time of the decision; null without one */
  decidedAt: string | null;
  /** Person who decided; null without a decision */
  decidedBy: {
    /** Kind of the actor: a person, a key or an installation of an extension */
    kind: 'user' | 'key' | 'installation';
    /** Null for the operator at the command line */
    id: string | null;
    /** Name of the actor at that time; null without one */
    displayName: string | null;
  } | null;
  /** Note on the decision */
  note: string | null;
  /** Time at which a proposal expires */
  expiresAt: string | null;
  /** Reason for which an approved proposal could not be sent, or expired early */
  failure: {
    /** Kind of the error */
    _tag: string;
    /** Sentence on the error */
    message: string;
  } | null;
  /** Digest of the proposed MIME (`…/raw`): `sha256:` and hexadecimal digits. It is sent without Bcc, and after Date, Message-ID, DKIM-Signature and X-Service-Token */
  digest: string | null;
  /** Digest of the MIME that was sent, if `decidedBy` edited it; else null */
  editedDigest: string | null;
  /** Mail of the proposal; null once it is decided */
  content: {
    /** Sender of the mail */
    from: {
      /** Address of the sender */
      email: string;
      /** Display name of the sender; null without one */
      name: string | null;
    };
    /** Addresses that replies go to */
    replyTo: Array<string>;
    /** Sentences on what the HTML has beside its words: hidden words, pictures of other servers, forms, words of style sheets, parts for Outlook */
    notes: Array<string>;
    /** Addresses in To */
    to: Array<string>;
    /** Addresses in Cc */
    cc: Array<string>;
    /** Addresses in Bcc */
    bcc: Array<string>;
    /** Subject line */
    subject: string;
    /** Plain text; null without any */
    text: string | null;
    /** HTML; null without any */
    html: string | null;
    /** Attached files */
    attachments: Array<{
      /** Its number in the mail, from 1 */
      n: number;
      /** Name of the file, such as invoice.pdf */
      filename: string;
      /** Media type; null if not given */
      contentType: string | null;
      /** Id by which the HTML shows it inline */
      contentId: string | null;
      /** Bytes */
      size: number;
      /** `sha256:` of its bytes */
      digest: string;
    }>;
  } | null;
};
/** A group of mailboxes */
export type MailboxNamespace = {
  /** Id of the namespace */
  id: string;
  /** Organization of the namespace */
  organizationId: string;
  /** Name of the namespace */
  name: string;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
};
/** Messages of a mailbox that belong together */
export type Thread = {
  /** Id of the thread */
  id: string;
  /** Folder of the thread */
  folder: 'inbox' | 'sent' | 'archive' | 'spam' | 'trash' | 'drafts';
  /** Priority of the thread */
  priority: 'high' | 'normal' | 'low';
  /** Labels of the thread */
  labels: Array<string>;
  /** Whether all messages are read */
  read: boolean;
  /** Whether the thread has a star */
  starred: boolean;
  /** End of the snooze; null without one */
  snoozedUntil: string | null;
  /** Subject line; null without one */
  subject: string | null;
  /** Beginning of its newest message */
  preview: string | null;
  /** Sender of the newest incoming message */
  from: {
    /** Address of the sender */
    address: string;
    /** Display name of the sender; null without one */
    displayName: string | null;
  } | null;
  /** Number of messages */
  messageCount: number;
  /** Whether a message has an attachment */
  hasAttachments: boolean;
  /** Whether a draft waits in the thread */
  hasDraft: boolean;
  /** Time of the newest message */
  lastActivityAt: string;
};
/** A message in a thread */
export type ThreadMessage = {
  /** Id of the message */
  id: string;
  /** Organization of the message */
  organizationId: string;
  /** Always `email` */
  channel: 'email';
  /** outbound: sent by the service; inbound: received */
  direction: 'outbound' | 'inbound';
  /** Status over all recipients */
  status:
    | 'pending'
    | 'scheduled'
    | 'queued'
    | 'processing'
    | 'sent'
    | 'delivered'
    | 'read'
    | 'failed'
    | 'bounced'
    | 'complained';
  /** Conversation of the message; null without one */
  conversationId: string | null;
  /** Campaign run that made the message; null without one */
  campaignRunId: string | null;
  /** Kind of mail, which its recipients can leave */
  unsubscribeGroupId: string | null;
  /** Subject line; null without one */
  subject: string | null;
  /** Sender */
  from: {
    /** Address of the sender */
    email: string;
    /** Display name of the sender; null without one */
    name: string | null;
  };
  /** Addresses that replies go to; null: the sender */
  replyTo: Array<string> | null;
  /** Recipients in To */
  to: Array<{
    /** Email address */
    email: string;
    /** Display name; null without one */
    name: string | null;
    /** Contact with this address; null for an unknown address */
    contactId: string | null;
  }>;
  /** Recipients in Cc */
  cc: Array<{
    /** Email address */
    email: string;
    /** Display name; null without one */
    name: string | null;
    /** Contact with this address; null for an unknown address */
    contactId: string | null;
  }>;
  /** Recipients in Bcc, hidden from all recipients */
  bcc: Array<{
    /** Email address */
    email: string;
    /** Display name; null without one */
    name: string | null;
    /** Contact with this address; null for an unknown address */
    contactId: string | null;
  }>;
  /** Every recipient with the status of the delivery */
  recipients: Array<{
    /** Email address */
    email: string;
    /** Display name; null without one */
    name: string | null;
    /** Contact with this address; null for an unknown address */
    contactId: string | null;
    /** Id of the recipient */
    id: string;
    /** Header field that names the recipient; bcc is in none */
    kind: 'to' | 'cc' | 'bcc';
    /** Status for this recipient */
    status:
      | 'pending'
      | 'scheduled'
      | 'queued'
      | 'processing'
      | 'sent'
      | 'delivered'
      | 'read'
      | 'failed'
      | 'bounced'
      | 'complained';
  }>;
  /** Deliveries, one for each recipient */
  deliveries: Array<Delivery>;
  /** Template that was filled; null for inline content */
  templateId: string | null;
  /** Number of the version of the template that was sent */
  templateVersion: number | null;
  /** Tags of the send */
  tags: Array<string>;
  /** Values that the sender of the request attached */
  metadata: {
    [name: string]: string | number | boolean | null;
  };
  /** Tracking of this message */
  tracking: {
    /** Whether opens are recorded */
    opens: boolean;
    /** Whether clicks are recorded */
    clicks: boolean;
  };
  /** Planned time of a scheduled message; null without one */
  scheduledFor: string | null;
  /** Earlier message that this one repeats or releases */
  resendOf: string | null;
  /** Origin of the message; null for received mail, and for old messages */
  origin: MessageOrigin | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
  /** Thread of the message */
  threadId: string;
  /** Place in the thread, from 0 */
  threadPosition: number;
  /** Kind of the sender: a person, a program, a list, a bounce, or this mailbox */
  kind: 'person' | 'auto-reply' | 'list' | 'bounce' | 'sent';
  /** Beginning of the text; null without text */
  preview: string | null;
  /** Text without quotes: 64 KB of a message, 4 MB of a page */
  newContent: string | null;
  /** `GET /v1/messages/{id}/email` has the whole text */
  newContentTruncated: boolean;
  /** Attached files */
  attachments: Array<{
    /** Its number, from 1, in the path of attachments */
    n: number;
    /** File name; null without one */
    filename: string | null;
    /** Media type */
    contentType: string;
    /** Size in bytes */
    size: number;
  }>;
};
/** State of a thread */
export type ThreadStanding = {
  /** Id of the thread */
  id: string;
  /** Folder of the thread */
  folder: 'inbox' | 'sent' | 'archive' | 'spam' | 'trash' | 'drafts';
  /** Priority of the thread */
  priority: 'high' | 'normal' | 'low';
  /** Labels of the thread */
  labels: Array<string>;
  /** Whether all messages are read */
  read: boolean;
  /** Whether the thread has a star */
  starred: boolean;
  /** End of the snooze; null without one */
  snoozedUntil: string | null;
};
/** A note on a thread; never mailed */
export type ThreadNote = {
  /** Id of the note */
  id: string;
  /** Author of the first version */
  author: {
    /** Kind of the author: a person, a key or an installation of an extension */
    kind: 'user' | 'key' | 'installation';
    /** Id of the key or installation; null for the operator */
    id: string | null;
    /** Name of the author at that time; null without one */
    displayName: string | null;
  };
  /** Last editor; null until the first change */
  editedBy: {
    /** Kind of the author: a person, a key or an installation of an extension */
    kind: 'user' | 'key' | 'installation';
    /** Id of the key or installation; null for the operator */
    id: string | null;
    /** Name of the author at that time; null without one */
    displayName: string | null;
  } | null;
  /** Text of the note */
  body: string;
  /** Colour */
  color: 'yellow' | 'green' | 'blue' | 'purple' | 'pink' | 'red' | 'orange' | 'gray' | null;
  /** Whether it stands above all unpinned notes */
  pinned: boolean;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
};
/** An answer to choose in place of writing it again */
export type SavedReply = {
  /** Id of the resource */
  id: string;
  /** Organization that owns the resource */
  organizationId: string;
  /** Name to choose it by */
  name: string;
  /** Plain text of the answer */
  text: string;
  /** HTML of the answer */
  html: string | null;
  /** Time of creation, ISO 8601 in UTC */
  createdAt: string;
  /** Time of the last change, ISO 8601 in UTC */
  updatedAt: string;
};
/** A sending domain */
export type Domain = {
  /** Id of the domain */
  id: string;
  /** Organization of the domain */
  organizationId: string;
  /** Domain name in A-labels */
  domain: string;
  /** Result of the last check; temporary-failure: DNS did not answer */
  status: 'pending' | 'verified' | 'failed' | 'temporary-failure';
  /** Proof of the domain by this key */
  dkim: {
    /** Name of the key in DNS */
    selector: string;
    /** Signature algorithm */
    algorithm: 'rsa-sha256' | 'ed25519-sha256';
    /** Public key, base64 */
    publicKey: string;
  };
  /** All keys in use or waiting to be published */
  dkimKeys: Array<{
    /** Name of the key in DNS */
    selector: string;
    /** Signature algorithm */
    algorithm: 'rsa-sha256' | 'ed25519-sha256';
    /** Public key, base64 */
    publicKey: string;
    /** Found in DNS: mail is signed with the key */
    published: boolean;
  }>;
  /** Host of the envelope sender */
  returnPath: string;
  /** DNS records to publish, with the last check of each */
  dnsRecords: Array<DnsRecord>;
  /** Receiver of mail for unknown addresses */
  catchAll: {
    /** Whether unknown addresses get mail */
    enabled: boolean;
    /** Mailbox that gets this mail; null without one */
    mailboxId: string | null;
  };
  /** held: mail from the domain is accepted and waits until the operator resumes it */
  sendingStatus: 'enabled' | 'held';
  /** Time at which its mail was held; null if it is not */
  heldAt: string | null;
  /** Reason of the hold; null without one */
  holdReason: string | null;
  /** Time of the verification; null before */
  verifiedAt: string | null;
  /** Time of the last check of DNS; null before the first */
  lastCheckedAt: string | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
};
/** A DNS record to publish, with the last check */
export type DnsRecord = {
  /** Purpose of the record */
  purpose: 'dkim' | 'spf' | 'return-path' | 'dmarc' | 'mx' | 'tracking';
  /** Type of the record */
  type: 'TXT' | 'MX' | 'CNAME';
  /** Name of the record */
  name: string;
  /** Value to publish; an MX value starts with its preference */
  value: string;
  /** The domain is verified when all of these are valid */
  required: boolean;
  /** As last checked; pending: not known yet, or DNS did not answer */
  status: 'pending' | 'valid' | 'invalid' | 'missing';
  /** Records that DNS answered */
  found: Array<string>;
  /** The problem; of a valid record, a possible improvement */
  error: string | null;
  /** Kind of the problem in `error`, and the next step */
  diagnosis: {
    /** Kind of the problem */
    code:
      | 'missing'
      | 'doubled-name'
      | 'at-apex'
      | 'wrong-label'
      | 'quoted'
      | 'split-records'
      | 'truncated'
      | 'other-key'
      | 'revoked'
      | 'wrong-key-type'
      | 'unreadable-key'
      | 'testing-flag'
      | 'proxied'
      | 'wildcard'
      | 'multiple-spf'
      | 'too-many-lookups'
      | 'void-lookups'
      | 'pass-all'
      | 'after-all'
      | 'spf-type'
      | 'no-mechanism'
      | 'relay-spf'
      | 'multiple-dmarc'
      | 'dmarc-no-policy'
      | 'alignment'
      | 'rua-consent'
      | 'cname-and-other'
      | 'other-hosts'
      | 'mx-address'
      | 'mx-cname'
      | 'mx-localhost'
      | 'null-mx'
      | 'hostname-unresolved'
      | 'stale-cache'
      | 'delegated'
      | 'lame-delegation'
      | 'dnssec-bogus'
      | 'no-domain'
      | 'unanswered';
    /** Next step */
    remedy: string;
  } | null;
  /** Effect of publishing `value` on the present record */
  advice?: string;
  /** For the record of a replaced DKIM key: when it may be removed */
  keepUntil?: string | null;
};
/** Report of a receiver on mail in the name of a domain */
export type DmarcReport = {
  /** Id of the report in this service */
  id: string;
  /** Domain of the applied policy */
  domain: string;
  /** Receiver of the mail, as it names itself */
  reporter: string;
  /** Id that the reporter gave */
  reportId: string;
  /** Beginning of the reported period */
  beginsAt: string;
  /** End of the reported period */
  endsAt: string;
  /** Number of reported messages */
  messages: number;
  /** Messages with an aligned pass of DKIM or SPF */
  passed: number;
  /** Number of messages that failed DMARC */
  failed: number;
  /** Sources, failing ones first, then by size; at most 200 */
  sources: Array<{
    /** IP address of the sending host */
    ip: string;
    /** Number of messages from this host */
    count: number;
    /** Action of the receiver; null if not reported */
    disposition: 'none' | 'quarantine' | 'reject' | null;
    /** DKIM result with alignment; null if not reported */
    dkim: 'pass' | 'fail' | null;
    /** SPF result with alignment; null if not reported */
    spf: 'pass' | 'fail' | null;
    /** Domain in the From field; null if not reported */
    headerFrom: string | null;
  }>;
  /** Time at which the report arrived */
  createdAt: string;
};
/** The tracking host of a sending domain */
export type CustomTracking = {
  /** Whether the host is enabled */
  enabled: boolean;
  /** Null: never enabled */
  customTracking: {
    /** State of the tracking host */
    status: 'pending' | 'verifying' | 'issuing' | 'active' | 'failed' | 'disabled' | 'tearing-down';
    /** Label before the domain */
    label: string;
    /** Host name of tracked links */
    hostname: string;
    /** Region of the service (`tracking.region`) */
    region: string;
    /** State of the certificate of the host */
    sslStatus: 'none' | 'pending' | 'active' | 'expired' | 'failed';
    /** Certificate of the host, and the checks of it */
    certificate: {
      /** Obstacle to activation; null if there is none */
      reason: {
        /** Kind of the obstacle */
        code:
          | 'initializing'
          | 'dns-missing'
          | 'caa-forbids'
          | 'challenge-failed'
          | 'rate-limited'
          | 'expired'
          | 'certificate-mismatch';
        /** Sentence on the obstacle and the remedy */
        message: string;
      } | null;
      /** Expiry of the certificate; null without one */
      expiresAt: string | null;
      /** Time of the last check; null before the first */
      lastCheckedAt: string | null;
      /** Time of the next check; null if none is planned */
      nextCheckAt: string | null;
    };
    /** DNS records to publish */
    dnsRecords: {
      /** Record that leads the host to this service */
      tracking: {
        /** Name of the record */
        name: string;
        /** Type of the record, such as CNAME */
        type: string;
        /** Value of the record */
        value: string;
        /** Set by the configuration of the service */
        required: boolean;
      };
      /** Lets this service prove the host by DNS: required with the challenge dns-01 */
      dcvDelegation: {
        /** Name of the record */
        name: string;
        /** Type of the record, such as CNAME */
        type: string;
        /** Value of the record */
        value: string;
        /** Set by the configuration of the service */
        required: boolean;
      };
    };
    /** Its CAA records forbid the authority to issue */
    caaBlocked: boolean;
    /** Errors of the last check */
    verificationErrors: Array<string>;
    /** Time at which links of the host end; null if not disabled */
    teardownScheduledAt: string | null;
  } | null;
};
/** An address for the From of messages */
export type Sender = {
  /** Id of the resource */
  id: string;
  /** Organization that owns the resource */
  organizationId: string;
  /** Address of the sender */
  email: string;
  /** Display name of the sender */
  name: string | null;
  /** Domain of the address; null if it is not a domain of this organization */
  domainId: string | null;
  /** Whether the address is proven */
  verificationStatus: 'pending' | 'verified';
  /** Time of the proof; null before */
  verifiedAt: string | null;
  /** Never shown: it is mailed to the address */
  verificationToken: null;
  /** provisioning: a token is mailed to the address */
  providerLifecycle: 'provisioning' | 'active' | 'failed';
  /** Reason why the proof failed; null without one */
  providerFailureCode: 'token-expired' | 'token-undeliverable' | null;
  /** Whether it is the default sender */
  isDefault: boolean;
  /** Addresses that replies go to; null: the address of the sender */
  replyToEmails: Array<string> | null;
  /** Results of the last 24 hours */
  deliverability: {
    /** Share of attempted emails that bounced, from 0 to 1 */
    bounceRate: number;
    /** Share of attempted emails that were reported as spam, from 0 to 1 */
    complaintRate: number;
    /** Number of attempted emails */
    windowSends: number;
    /** held: the domain waits for a review; paused: the whole organization does */
    sendingStatus: 'enabled' | 'held' | 'paused';
  };
  /** Daily sends of 14 days, oldest first */
  series: Array<number>;
  /** Whether it may send */
  isActive: boolean;
  /** Time of creation, ISO 8601 in UTC */
  createdAt: string;
  /** Time of the last change, ISO 8601 in UTC */
  updatedAt: string;
};
/** The newest plan of a domain, and its results */
export type Warming = {
  /** Domain of the plan */
  domain: {
    /** Id of the domain */
    id: string;
    /** Domain name in A-labels */
    domain: string;
  };
  /** Newest plan of the domain */
  plan: WarmingPlan;
  /** The last 100, the newest last */
  batches: Array<WarmingWindow>;
  /** The last 200, the newest last */
  decisions: Array<WarmingDecision>;
  evidence: WarmingEvidence;
  /** Holds beside the plan */
  holds: {
    /** Time at which the organization was paused; null if it is not */
    workspacePausedAt: string | null;
    /** Reason of the pause; null without one */
    workspacePauseReason: string | null;
    /** held: the domain waits for a review; paused: the whole organization does */
    sendingStatus: 'enabled' | 'held' | 'paused';
  };
};
/** Growth of a domain's volume */
export type WarmingPlan = {
  /** Id of the plan */
  id: string;
  /** State of the plan */
  status: 'active' | 'paused' | 'held' | 'completed' | 'cancelled';
  /** History of the domain at receivers; recorded, it changes no number */
  identity: 'new' | 'migrating' | 'returning';
  /** Recipients of the first window of 24 hours */
  initialDailyRecipients: number;
  /** Growth from window to window, in percent */
  dailyGrowthPercent: number;
  /** Recipients of a window at which the plan is completed */
  targetDailyRecipients: number;
  /** count: direct sends above the allowance leave at once; defer: they wait for a later window */
  direct: 'count' | 'defer';
  /** Reason of the hold; null without one */
  holdReason: string | null;
  /** Time of the hold; null without one */
  heldAt: string | null;
  /** Time of the pause; null without one */
  pausedAt: string | null;
  /** Time of completion; null before */
  completedAt: string | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
};
/** A window of 24 hours */
export type WarmingWindow = {
  /** Id of the window */
  id: string;
  /** Number of the window, from 1 */
  sequence: number;
  /** State of the window */
  state: 'scheduled' | 'open' | 'closed' | 'cancelled';
  /** Beginning of the window */
  startsAt: string;
  /** End of the window */
  endsAt: string;
  /** Volume that campaigns may reserve */
  allowanceRecipients: number;
  /** Growth of the plan in percent, as of the window */
  dailyGrowthPercent: number;
  /** Target of the plan, as of the window */
  targetDailyRecipients: number;
  /** Reserved by campaigns */
  reservedRecipients: number;
  /** All sends from the domain, direct ones too */
  acceptedRecipients: number;
  /** Time of cancellation; null if it was not cancelled */
  cancelledAt: string | null;
  /** Time of creation */
  createdAt: string;
};
/** A decision on a plan, with its actor */
export type WarmingDecision = {
  /** Id of the decision */
  id: string;
  /** Kind of the decision */
  kind:
    | 'plan-created'
    | 'window-opened'
    | 'window-closed'
    | 'held'
    | 'paused'
    | 'resumed'
    | 'completed'
    | 'cancelled';
  /** Window that it concerns; null without one */
  batchId: string | null;
  /** Id of the key; `svc` for the operator, `system` for the service itself */
  actor: string;
  /** Reason as it was given; null without one */
  note: string | null;
  /** Time of the decision */
  createdAt: string;
};
/** Results of the mail of the domain */
export type WarmingEvidence = {
  /** Time of the count */
  observedAt: string;
  /** Length of the counted period in hours */
  windowHours: number;
  /** Minimum of sends for a verdict */
  minimumSends: number;
  /** Emails that were attempted */
  sent: number;
  /** Emails that bounced */
  bounced: number;
  /** Emails that were reported as spam */
  complained: number;
  /** The oldest first, the running hour last */
  hourly: Array<{
    /** Emails that were attempted */
    sent: number;
    /** Emails that bounced */
    bounced: number;
    /** Emails that were reported as spam */
    complained: number;
  }>;
  /** Bounce rate that holds the plan, from 0 to 1 */
  bounceThreshold: number;
  /** Complaint rate that holds the plan, from 0 to 1 */
  complaintThreshold: number;
  /** Every window is safe unless it is unhealthy */
  verdict: 'healthy' | 'insufficient-evidence' | 'unhealthy';
  /** Threshold that was passed; null without one */
  thresholdReason: string | null;
};
/** An address that gets no mail */
export type Block = {
  /** Id of the block */
  id: string;
  /** Blocked address */
  address: string;
  /** Reason of the block */
  reason: 'bounce' | 'complaint' | 'unsubscribe' | 'manual';
  /** Null: blocks all mail */
  unsubscribeGroupId: string | null;
  /** Message that bounced or caused the complaint */
  messageId: string | null;
  /** Time of creation */
  createdAt: string;
};
/** A kind of mail that recipients can leave */
export type UnsubscribeGroup = {
  /** Id of the resource */
  id: string;
  /** Organization that owns the resource */
  organizationId: string;
  /** Name that recipients read on the unsubscribe page */
  name: string;
  /** Kind of mail, for recipients */
  description: string | null;
  /** List it on the unsubscribe page of every recipient (default: no) */
  public: boolean;
  /** Ask each added contact by mail to confirm: double opt-in (default: no) */
  confirm: boolean;
  /** Time of creation, ISO 8601 in UTC */
  createdAt: string;
  /** Time of the last change, ISO 8601 in UTC */
  updatedAt: string;
};
/** A contact that was asked to confirm */
export type UnsubscribeGroupMember = {
  /** Id of the contact */
  contactId: string;
  /** A `pending` contact gets no campaign of the group */
  status: 'pending' | 'confirmed';
  /** Time of the confirmation; null before */
  confirmedAt: string | null;
  /** Mails with a link to confirm so far, at most 3 */
  mails: number;
  /** Time of the last mail with a link; null before the first */
  lastMailAt: string | null;
  /** End of the link in the last mail */
  linkExpiresAt: string | null;
  /** Time at which a mail is due */
  nextMailAt: string | null;
  /** Reason why the due mail waits, as of a campaign run */
  waitReason: 'rate' | 'daily-quota' | null;
  /** Time at which the contact was added */
  createdAt: string;
};
/** A contact after the request */
export type AddedUnsubscribeGroupMember = {
  /** Id of the contact */
  contactId: string;
  /** A `pending` contact gets no campaign of the group */
  status: 'pending' | 'confirmed';
  /** Time of the confirmation; null before */
  confirmedAt: string | null;
  /** Mails with a link to confirm so far, at most 3 */
  mails: number;
  /** Time of the last mail with a link; null before the first */
  lastMailAt: string | null;
  /** End of the link in the last mail */
  linkExpiresAt: string | null;
  /** Time at which a mail is due */
  nextMailAt: string | null;
  /** Reason why the due mail waits, as of a campaign run */
  waitReason: 'rate' | 'daily-quota' | null;
  /** Time at which the contact was added */
  createdAt: string;
  /** `asked`: a mail is due now; `recent`: the last one is less than an hour old; `limit`: there were three; `confirmed`: it is confirmed already; `blocked`: its address gets no mail */
  result: 'asked' | 'recent' | 'limit' | 'confirmed' | 'blocked';
};
/** The look of mail: CSS, logos and footer */
export type Brand = {
  /** Id of the brand */
  id: string;
  /** Slug that addresses the brand */
  slug: string;
  /** Name of the brand */
  name: string;
  /** Whether mail without a brand takes it */
  isDefault: boolean;
  /** Style sheet; null without one */
  css: string | null;
  /** Pictures of the brand */
  assets: {
    /** URL of the logo; null without one */
    logoUrl: string | null;
    /** URL of the logo on dark ground; null without one */
    logoDarkUrl: string | null;
    /** URL of the icon; null without one */
    iconUrl: string | null;
  };
  /** Footer of mail */
  footer: {
    /** Name of the company; null without one */
    companyName: string | null;
    /** Postal address; null without one */
    address: {
      /** Street and number; null without one */
      street1: string | null;
      /** Second line of the street; null without one */
      street2: string | null;
      /** City; null without one */
      city: string | null;
      /** State or province; null without one */
      region: string | null;
      /** Postal code; null without one */
      postalCode: string | null;
      /** Country; null without one */
      country: string | null;
    } | null;
    /** Links to pages of the company */
    socialLinks: Array<{
      /** Text of the link */
      label: string;
      /** URL of the page */
      url: string;
    }>;
  };
  /** `sha256:` over name, slug, CSS, assets and footer */
  digest: string;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
};
/** Stored content of mail, filled for each message */
export type Template = {
  /** Id of the template */
  id: string;
  /** Organization of the template */
  organizationId: string;
  /** Name, for people */
  name: string;
  /** Slug that sends can name */
  slug: string;
  /** Always `email` */
  channel: 'email';
  /** Description; null without one */
  description: string | null;
  /** State of the template; only a published template can be sent */
  status: 'draft' | 'published' | 'archived';
  /** Whether it can be sent: it is published */
  isActive: boolean;
  /** Family of the template; null without one */
  familyId: string | null;
  /** Number of the version that sends use; null before the first */
  version: number | null;
  /** Time of the latest publication; null before */
  publishedAt: string | null;
  /** Time of the archival; null if it is not archived */
  archivedAt: string | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
};
/** The content that a send would have */
export type RenderedTemplate = {
  /** Subject line */
  subject: string;
  /** Preview line; null without one */
  preheader: string | null;
  /** HTML; null without any */
  html: string | null;
  /** Plain text; null without any */
  text: string | null;
  /** Advice on the content */
  warnings: Array<TemplateWarning>;
};
/** A published commit of a template */
export type TemplateVersion = {
  /** Id of the version */
  id: string;
  /** Template of the version */
  templateId: string;
  /** Number of the version, from 1 */
  version: number;
  /** Commit of the workspace that was compiled */
  commit: string;
  /** Slug of the brand whose CSS is in the HTML */
  brand: string | null;
  /** Size of the compiled HTML */
  htmlBytes: number;
  /** Advice on the content */
  warnings: Array<TemplateWarning>;
  /** Id of the publishing key; null for the operator */
  createdBy: string | null;
  /** Time of the publication */
  createdAt: string;
};
/** A workspace with its files */
export type TemplateWorkspaceView = {
  /** State of the workspace */
  workspace: TemplateWorkspace;
  /** All files by path: the head of main with the staged ones over it */
  files: {
    [name: string]: string;
  };
};
/** The editable files of a template */
export type TemplateWorkspace = {
  /** Id of the template */
  projectId: string;
  /** Organization of the template */
  organizationId: string;
  /** Always 1: a workspace keeps its owner */
  ownerEpoch: number;
  /** Name of the git repository */
  repositoryName: string;
  /** Name of the branch that is published */
  defaultBranch: string;
  /** Commit below the staged files */
  baseCommit: string;
  /** Head of main, as git clients see it */
  remoteHead: string;
  /** Commit of a bundle that the next save merges */
  pendingRemoteHead: string | null;
  /** Grows with each change */
  revision: string;
  /** Staged files by path; staged deletions are missing in `files` only */
  overlay: {
    [name: string]: string;
  };
  /** Files that the draft and main both changed: stage them, then save */
  conflicts: Array<{
    /** Path of the file */
    path: string;
    /** Null: there is no such file */
    base: string | null;
    /** Null: there is no such file */
    draft: string | null;
    /** Null: there is no such file */
    main: string | null;
  }>;
  /** Origin of the staged files */
  provenance: {
    /** Sources of the staged files, such as a restored commit */
    references: Array<{
      /** Kind of the source */
      kind: string;
      /** Digest of the source */
      digest: string;
      /** Place of the source */
      locator: string;
    }>;
  };
  /** Folders of the workspace */
  mounts: Array<{
    /** Kind of the folder */
    kind: string;
    /** Path of the folder */
    root: string;
    /** Access to the folder */
    access: string;
  }>;
  /** Digest of the libraries that templates may use */
  libraryManifestDigest: string;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
  /** Caller that made the workspace */
  createdBy: {
    /** The key or member; null for the operator */
    userId: string | null;
    /** Face through which the change came */
    via: 'api' | 'cli' | 'git';
  };
  /** Caller that changed it last */
  updatedBy: {
    /** The key or member; null for the operator */
    userId: string | null;
    /** Face through which the change came */
    via: 'api' | 'cli' | 'git';
  };
};
/** A workspace with the files of an earlier commit */
export type TemplateRestore = {
  /** Workspace with the restored files */
  view: TemplateWorkspaceView;
  /** Body file that was restored */
  source: {
    /** `sha256:` of the content */
    digest: string;
    /** The body file of the commit */
    content: string;
  };
};
/** Commits of a template, newest first */
export type TemplateHistory = {
  /** Commits of this page */
  items: Array<{
    /** Hash of the commit */
    commit: string;
    /** Hashes of the parents */
    parents: Array<string>;
    /** Message of the commit */
    message: string;
    /** Author of the commit */
    author: {
      /** Name of the author */
      name: string;
      /** Address of the author */
      email: string;
    };
    /** Time of the commit */
    date: string;
    /** Number of the newest version published from the commit */
    version: number | null;
  }>;
  /** Null on the last page */
  nextCursor: string | null;
};
/** Changed files between two commits */
export type TemplateDiff = {
  /** Hash of the older commit */
  from: string;
  /** Null for the draft */
  to: string | null;
  /** Changed files */
  files: Array<{
    /** Path of the file */
    path: string;
    /** Kind of the change */
    status: 'added' | 'deleted' | 'modified';
    /** Unified diff */
    diff: string;
    /** Whether the diff was cut */
    isTruncated: boolean;
  }>;
};
/** Templates that belong together */
export type TemplateFamily = {
  /** Id of the resource */
  id: string;
  /** Organization that owns the resource */
  organizationId: string;
  /** Name of the family */
  name: string;
  /** Templates of the family */
  members: Array<{
    /** Id of the template */
    id: string;
    /** Name, for people */
    name: string;
    /** Slug that sends can name */
    slug: string;
    /** Always `email` */
    channel: 'email';
    /** State of the template; only a published template can be sent */
    status: 'draft' | 'published' | 'archived';
    /** Whether it can be sent: it is published */
    isActive: boolean;
    /** Time of creation */
    createdAt: string;
    /** Time of the last change */
    updatedAt: string;
  }>;
  /** Time of creation, ISO 8601 in UTC */
  createdAt: string;
  /** Time of the last change, ISO 8601 in UTC */
  updatedAt: string;
};
/** Result of an import, or of a preview */
export type ContactImportReport = {
  /** Format that the header shows */
  format: string;
  /** Encoding of the file */
  encoding: 'utf-8' | 'windows-1252' | 'utf-16';
  /** Field that each column fills; `custom` is a custom field */
  map: {
    [name: string]: string;
  };
  /** Whether nothing was changed */
  dryRun: boolean;
  /** Contacts that were created */
  created: number;
  /** Contacts that were changed */
  updated: number;
  /** Contacts that had these values already */
  unchanged: number;
  /** Rows that were refused */
  rejected: number;
  /** Contacts that now wait for a confirmation; with `requireConfirmation` only */
  pending?: number;
  /** Rejected rows, the first 1,000; `line` is in the file, `row` counts data rows from 1 */
  rows: Array<{
    /** Number of the data row, from 1 */
    row: number;
    /** Number of the line in the file */
    line: number;
    /** Field at fault; null for the whole row */
    field: string | null;
    /** Reason of the refusal */
    reason: string;
  }>;
};
/** A person who gets mail */
export type Contact = {
  /** Id of the contact */
  id: string;
  /** Name of the contact; null without one */
  name: string | null;
  /** Name to show; null without one */
  displayName: string | null;
  /** URL of a picture; null without one */
  avatar: string | null;
  /** `bounced`, `complained` and `unsubscribed` follow from the block of the first email */
  status: 'active' | 'unsubscribed' | 'bounced' | 'complained' | 'archived';
  /** Reason of the status; null without one */
  statusReason: string | null;
  /** Your own id of the contact; null without one */
  externalId: string | null;
  /** Addresses; the first gets the mail */
  identities: Array<{
    /** Id of the address */
    id: string;
    /** Always `email` */
    channel: 'email';
    /** Email address */
    identifier: string;
    /** Proven by mail from that address */
    verified: boolean;
  }>;
  /** Facts about the contact */
  profile: {
    /** Given name */
    firstName: string | null;
    /** Family name */
    lastName: string | null;
    /** Employer of the contact */
    company: string | null;
    /** Position in the company */
    jobTitle: string | null;
    /** Place of the contact */
    location: {
      /** Country of the contact */
      country: string | null;
      /** State or province of the contact */
      state: string | null;
      /** Town of the contact */
      city: string | null;
      /** Time zone (IANA) */
      timezone: string | null;
    };
    /** Texts of your own by name */
    customFields: {
      [name: string]: string;
    };
    /** Origin of the contact */
    source: string | null;
  };
  /** Wishes of the contact */
  preferences: {
    /** Channels, the preferred one first */
    preferredChannels: Array<string>;
    /** Language; null if unknown */
    language: string | null;
    /** Time zone of the quiet hours (IANA); null if unknown */
    timezone: string | null;
    /** Wanted notifications */
    notifications: {
      /** Whether the contact wants campaigns by email */
      email: boolean;
      /** Hours without campaigns; null without any */
      quiet_hours: {
        /** Begin, such as 22:00 */
        start: string;
        /** End, such as 07:00 */
        end: string;
      } | null;
    };
  };
  /** Tags of the contact */
  tags: Array<string>;
  /** Values of your own by name */
  metadata: {
    [name: string]: unknown;
  };
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
};
/** A tag that contacts have */
export type ContactTag = {
  /** The tag, as the oldest contact with it writes it */
  tag: string;
  /** Number of contacts with the tag, in any case of letters */
  contacts: number;
};
/** Messages that belong together */
export type Conversation = {
  /** Id of the conversation */
  id: string;
  /** Title; null without one */
  title: string | null;
  /** Your own id of the conversation; null without one */
  externalId: string | null;
  /** State of the conversation; waiting: for an answer of the contact */
  status: 'active' | 'waiting' | 'resolved' | 'archived';
  /** Always `email` */
  primaryChannel: 'email';
  /** Channels of the messages */
  channels: Array<'email'>;
  /** From 0 to 100 */
  priority: number;
  /** Urgency as it was given */
  urgency: 'low' | 'normal' | 'high' | 'urgent';
  /** Tags of the conversation */
  tags: Array<string>;
  /** Created with a test key */
  isTest: boolean;
  /** Number of messages */
  messageCount: number;
  /** Time of its newest message */
  lastActivityAt: string | null;
  /** Time of creation */
  createdAt: string;
  /** Description; null without one */
  description: string | null;
  /** Conversation that it continues; null without one */
  parentConversationId: string | null;
  /** Reason of the status; null without one */
  statusReason: string | null;
  /** Complexity as it was given; null without one */
  complexity: 'simple' | 'moderate' | 'complex' | null;
  /** Categories of the conversation */
  categories: Array<string>;
  /** Values of your own by name */
  metadata: {
    [name: string]: unknown;
  };
  /** Facts for programs that answer */
  context: {
    /** Facts about the customer */
    customerData: {
      [name: string]: unknown;
    };
    /** Earlier conversations, as ids or names */
    previousConversations: Array<string>;
    /** Values of the session */
    sessionVariables: {
      [name: string]: unknown;
    };
    /** State of a workflow of your own */
    workflowState: {
      /** Present step; null without one */
      currentStep: string | null;
      /** Steps that are done */
      completedSteps: Array<string>;
      /** Steps that are left */
      pendingSteps: Array<string>;
      /** Values of the workflow */
      workflowData: {
        [name: string]: unknown;
      };
    };
  };
  /** Whether it is marked as internal */
  isInternal: boolean;
  /** Whether it is marked as private */
  isPrivate: boolean;
  /** Contacts in its messages; 20 at most */
  contacts: Array<{
    /** Id of the contact */
    id: string;
    /** Name of the contact; null without one */
    name: string | null;
    /** Name to show; null without one */
    displayName: string | null;
    /** Addresses of the contact */
    identities: Array<{
      /** Always `email` */
      channel: 'email';
      /** Email address */
      identifier: string;
      /** Proven by mail from that address */
      verified: boolean;
    }>;
  }>;
  /** Time of its first message */
  startedAt: string | null;
  /** Time of its newest message by a person: no auto-reply, no service key */
  lastHumanActivityAt: string | null;
  /** Time of the resolution; null before */
  resolvedAt: string | null;
  /** Time of the archival; null before */
  archivedAt: string | null;
  /** Kind of resolution; null without one */
  resolutionType: 'automated' | 'manual' | 'abandoned' | null;
  /** Notes on the resolution; null without any */
  resolutionNotes: string | null;
  /** Time of the last change */
  updatedAt: string;
};
/** Contacts that belong together */
export type ContactGroup = {
  /** Id of the resource */
  id: string;
  /** Organization that owns the resource */
  organizationId: string;
  /** Name of the group */
  name: string;
  /** Description of its members */
  description: string | null;
  /** Conditions of its members; null for members by hand */
  query: ContactQuery | null;
  /** Null for a group by query in lists, or if counting takes too long */
  memberCount: number | null;
  /** Time of creation, ISO 8601 in UTC */
  createdAt: string;
  /** Time of the last change, ISO 8601 in UTC */
  updatedAt: string;
};
/** A condition on contacts: `all`, `any` or `not` of others, a tag, a status, a field that is compared, or mail of campaigns that the contact opened, clicked or received */
export type ContactQuery = {
  /** All of these conditions hold */
  all?: Array<ContactQuery>;
  /** At least one of these conditions holds */
  any?: Array<ContactQuery>;
  /** This condition does not hold */
  not?: ContactQuery;
  /** Contacts with this tag */
  tag?: string;
  /** Contacts with this status */
  status?: 'active' | 'unsubscribed' | 'bounced' | 'complained' | 'archived';
  /** Field to compare */
  field?: string;
  /** Text that equals the field */
  is?: string;
  /** Text that differs from the field; contacts without the field match too */
  isNot?: string;
  /** Texts that include the field, at most 100 */
  in?: Array<string>;
  /** Text with which the field begins */
  startsWith?: string;
  /** Text that the field contains */
  contains?: string;
  /** Day; the field is earlier */
  before?: string;
  /** Day; the field is later */
  after?: string;
  /** Whether the field has a value */
  exists?: boolean;
  /** Contacts that opened a mail of campaigns */
  opened?: {
    /** Mail of this campaign; of any campaign without it */
    campaignId?: string;
    /** Age of the activity in days, at most */
    withinDays: number;
  };
  /** Contacts that clicked in a mail of campaigns */
  clicked?: {
    /** Mail of this campaign; of any campaign without it */
    campaignId?: string;
    /** Age of the activity in days, at most */
    withinDays: number;
  };
  /** Contacts that received a mail of campaigns */
  received?: {
    /** Mail of this campaign; of any campaign without it */
    campaignId?: string;
    /** Age of the activity in days, at most */
    withinDays: number;
  };
};
/** Content and audience of mail to many contacts */
export type Campaign = {
  /** Id of the campaign */
  id: string;
  /** Organization of the campaign */
  organizationId: string;
  /** Name, for people */
  name: string;
  /** Always `email` */
  channel: 'email';
  /** Content as it was given. Lists leave out html, text, attachments and templateData */
  email: {
    /** Subject line of the mail */
    subject?: string;
    /** HTML of the mail */
    html?: string;
    /** Plain text of the mail */
    text?: string;
    /** Template by id */
    templateId?: string;
    /** Template by slug */
    templateSlug?: string;
    /** Values for the template */
    templateData?: {
      [name: string]: unknown;
    };
    /** Addresses that replies go to */
    replyTo?: Array<string>;
    /** Attached files */
    attachments?: Array<{
      /** Name of the file, such as invoice.pdf */
      filename: string;
      /** The file in base64 */
      content: string;
      /** Media type */
      contentType?: string;
      /** Id by which the HTML shows the file */
      contentId?: string;
    }>;
    /** Unsubscribe group that recipients can leave */
    unsubscribeGroupId?: string;
    /** Tracking of the mail */
    tracking?: {
      /** Whether opens are recorded */
      opens?: boolean;
      /** Whether clicks are recorded */
      clicks?: boolean;
    };
    /** Footer of the mail */
    footer?: {
      /** Whether the mail has the footer */
      enabled: boolean;
    };
    /** Message that the mail answers */
    inReplyToMessageId?: string;
    /** Importance that mail programs show */
    priority?: 'high' | 'normal' | 'low';
  };
  /** Null: the default sender */
  from: {
    /** Address of the sender */
    email: string;
    /** Display name; null: that of the sender identity */
    name: string | null;
  } | null;
  /** Contacts that get the mail */
  audience: {
    /** Contacts with at least one of these tags */
    includeTags: Array<string>;
    /** Contacts with such a tag are left out */
    excludeTags: Array<string>;
    /** Lists leave them out */
    contactIds?: Array<string>;
    /** Contacts of these groups */
    groupIds: Array<string>;
  };
  /** Conversation that all messages join; null without one */
  conversationId: string | null;
  /** Values kept with each message; null without any */
  metadata: {
    [name: string]: string | number | boolean | null;
  } | null;
  /** Whether tags and groups need no unsubscribe group */
  transactional: boolean;
  /** Advice as of the last change: on its content, and what a run is refused for */
  warnings: Array<TemplateWarning>;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
};
/** A run of a campaign before it is made */
export type CampaignEstimate = {
  /** Contacts of the audience */
  total: number;
  /** Contacts that would get a message */
  dispatch: number;
  /** Contacts that would be left out, by reason */
  skipped: {
    /** Contacts with an excluded tag */
    excluded: number;
    /** Archived contacts */
    archived: number;
    /** Contacts without an address */
    'no-address': number;
    /** Contacts whose address is blocked */
    blocked: number;
    /** Contacts that left the unsubscribe group, or all mail */
    unsubscribed: number;
    /** Contacts that have not confirmed the double opt-in group */
    pending: number;
    /** Contacts that want no campaigns by email */
    preference: number;
    /** Contacts whose address already gets the mail */
    duplicate: number;
  };
  /** Time of the first message; null for none */
  firstAt: string | null;
  /** Time of the last message; null if a limit never lets it go */
  lastAt: string | null;
  /** Limit that takes longest; null without one */
  limitedBy: 'rate' | 'daily-quota' | 'warming' | null;
  /** Advice on the content */
  warnings: Array<TemplateWarning>;
  /** The mail of a run that is made now, without values of a contact; null if it cannot be made: `warnings` has the reason */
  mail: CampaignPreview | null;
};
/** The mail of a campaign for one contact */
export type CampaignPreview = {
  /** Subject line of the mail */
  subject: string;
  /** Preview line; null without one */
  preheader: string | null;
  /** HTML; null without any */
  html: string | null;
  /** Plain text; null without any */
  text: string | null;
  /** Advice on the content */
  warnings: Array<TemplateWarning>;
  /** Sender of the mail */
  from: {
    /** Address of the sender */
    email: string;
    /** Display name of the sender; null without one */
    name: string | null;
  };
  /** Addresses that replies go to */
  replyTo: Array<string>;
  /** Sentences on what the HTML has beside its words: hidden words, pictures of other servers, forms, words of style sheets, parts for Outlook */
  notes: Array<string>;
  /** Attached files */
  attachments: Array<{
    /** Its number in the mail, from 1 */
    n: number;
    /** Name of the file, such as invoice.pdf */
    filename: string;
    /** Media type; null if not given */
    contentType: string | null;
    /** Id by which the HTML shows it inline */
    contentId: string | null;
    /** Bytes */
    size: number;
  }>;
  /** Digest of the content with which a run of now would be frozen */
  digest: string;
};
/** One sending of a campaign to its audience */
export type CampaignRun = {
  /** Id of the run */
  id: string;
  /** Organization of the run */
  organizationId: string;
  /** Campaign of the run */
  campaignId: string;
  /** State of the run */
  status: 'scheduled' | 'running' | 'paused' | 'held' | 'completed' | 'failed' | 'cancelled';
  /** Planned start; null: at once */
  scheduledFor: string | null;
  /** Idempotency key of the request; null without one */
  idempotencyKey: string | null;
  /** Run whose failed contacts this one repeats */
  retryOf: string | null;
  /** Leaves out contacts of earlier runs */
  onlyNew: boolean;
  /** Time of the start; null before */
  startedAt: string | null;
  /** Time of the end; null before */
  completedAt: string | null;
  /** Rules as they were at the start; null before */
  policySnapshot: {
    /** Unsubscribe group that recipients can leave; null without one */
    unsubscribeGroupId: string | null;
    /** Contacts that one transaction judges */
    pageSize: number;
  } | null;
  /** Judged contacts; until the run is completed, an estimate */
  totalRecipients: number;
  /** Contacts with a message */
  dispatchedCount: number;
  /** Contacts for whom no message could be made */
  failedCount: number;
  /** Contacts that were left out */
  skippedCount: number;
  /** Reason of the failure; null without one */
  failureReason: string | null;
  /** Reason of the hold or pause; null without one */
  holdReason: string | null;
  /** Sending domain that is held; null without one */
  holdDomainId: string | null;
  /** Rates that held the run, or the reply of a provider */
  holdDetail: string | null;
  /** The last judged contact */
  lastContactId: string | null;
  /** Reason to wait before it starts, or while it is running */
  waitReason:
    | 'rate'
    | 'daily-quota'
    | 'warming'
    | 'queue'
    | 'audience'
    | 'capacity'
    | 'error'
    | null;
  /** End of that wait, as far as it is known */
  nextDispatchAt: string | null;
  /** Messages of the run by their fate */
  stats: RunStats;
  /** Whether a test key made it */
  isTest: boolean;
  /** Key or member that made it; null for the operator */
  createdBy: string | null;
  /** Address of the member; null for a key */
  actorEmail: string | null;
  /** Role of that key or member */
  memberRole: string | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
  /** Content as it was at the start; null before */
  contentSnapshot: {
    /** Always `email` */
    channel: 'email';
    /** Content of the mail */
    email: {
      /** Subject line; null with a template */
      subject: string | null;
      /** HTML; null with a template, or without any */
      html: string | null;
      /** Plain text; null with a template, or without any */
      text: string | null;
      /** Attached files */
      attachments: Array<{
        /** Name of the file, such as invoice.pdf */
        filename: string;
        /** The file in base64; null if it is left out */
        content: string | null;
        /** Id of the stored file; null without one */
        mediaId: string | null;
        /** Media type */
        contentType: string;
        /** Size in bytes */
        size: number;
      }>;
      /** Id of the published version of the template */
      publicationId: string | null;
      /** Id of the input contract of the template; null without one */
      inputContractId: string | null;
      /** Template; null for inline content */
      templateId: string | null;
      /** Slug of the template; null for inline content */
      templateSlug: string | null;
      /** Values for the template; null without any */
      templateData: {
        [name: string]: unknown;
      } | null;
      /** Message that the mail answers; null without one */
      inReplyToMessageId: string | null;
      /** Addresses that replies go to */
      replyTo: Array<string>;
      /** Unsubscribe group; null without one */
      unsubscribeGroupId: string | null;
      /** Tracking of the mail */
      tracking: {
        /** Whether opens are recorded */
        opens: boolean;
        /** Whether clicks are recorded */
        clicks: boolean;
      };
      /** Footer of the mail */
      footer: {
        /** Whether the mail has the footer */
        enabled: boolean;
      };
    };
    /** Conversation that all messages join; null without one */
    conversationId: string | null;
    /** Values kept with each message; null without any */
    metadata: {
      [name: string]: unknown;
    } | null;
  } | null;
  /** Audience as it was at the start; null before */
  audienceSnapshot: {
    /** Contacts with at least one of these tags */
    includeTags: Array<string>;
    /** Contacts with such a tag are left out */
    excludeTags: Array<string>;
    /** Contacts by id */
    contactIds: Array<string>;
    /** Contacts of these groups */
    groupIds: Array<string>;
  } | null;
};
/** Messages of a run by their fate */
export type RunStats = {
  /** Messages that a server accepted */
  sent: number;
  /** Messages that count as delivered */
  delivered: number;
  /** Messages that bounced */
  bounced: number;
  /** Messages that were reported as spam */
  complained: number;
  /** Messages that were opened */
  opened: number;
  /** Messages with a click */
  clicked: number;
  /** Messages whose recipient unsubscribed */
  unsubscribed: number;
  /** Messages that were given up */
  failed: number;
};
/** A run without its content and audience */
export type CampaignRunSummary = {
  /** Id of the run */
  id: string;
  /** Organization of the run */
  organizationId: string;
  /** Campaign of the run */
  campaignId: string;
  /** State of the run */
  status: 'scheduled' | 'running' | 'paused' | 'held' | 'completed' | 'failed' | 'cancelled';
  /** Planned start; null: at once */
  scheduledFor: string | null;
  /** Idempotency key of the request; null without one */
  idempotencyKey: string | null;
  /** Run whose failed contacts this one repeats */
  retryOf: string | null;
  /** Leaves out contacts of earlier runs */
  onlyNew: boolean;
  /** Time of the start; null before */
  startedAt: string | null;
  /** Time of the end; null before */
  completedAt: string | null;
  /** Rules as they were at the start; null before */
  policySnapshot: {
    /** Unsubscribe group that recipients can leave; null without one */
    unsubscribeGroupId: string | null;
    /** Contacts that one transaction judges */
    pageSize: number;
  } | null;
  /** Judged contacts; until the run is completed, an estimate */
  totalRecipients: number;
  /** Contacts with a message */
  dispatchedCount: number;
  /** Contacts for whom no message could be made */
  failedCount: number;
  /** Contacts that were left out */
  skippedCount: number;
  /** Reason of the failure; null without one */
  failureReason: string | null;
  /** Reason of the hold or pause; null without one */
  holdReason: string | null;
  /** Sending domain that is held; null without one */
  holdDomainId: string | null;
  /** Rates that held the run, or the reply of a provider */
  holdDetail: string | null;
  /** The last judged contact */
  lastContactId: string | null;
  /** Reason to wait before it starts, or while it is running */
  waitReason:
    | 'rate'
    | 'daily-quota'
    | 'warming'
    | 'queue'
    | 'audience'
    | 'capacity'
    | 'error'
    | null;
  /** End of that wait, as far as it is known */
  nextDispatchAt: string | null;
  /** Messages of the run by their fate */
  stats: RunStats;
  /** Whether a test key made it */
  isTest: boolean;
  /** Key or member that made it; null for the operator */
  createdBy: string | null;
  /** Address of the member; null for a key */
  actorEmail: string | null;
  /** Role of that key or member */
  memberRole: string | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
};
/** A contact that a run has checked */
export type RunRecipient = {
  /** Id of the contact */
  contactId: string;
  /** dispatched: a message was made; failed: none could be made; skipped: left out */
  outcome: 'dispatched' | 'failed' | 'skipped';
  /** Reason of a contact without a message */
  reason: string | null;
  /** Message to the contact; null without one */
  messageId: string | null;
  /** Status of the message now; null without one */
  status:
    | 'pending'
    | 'scheduled'
    | 'queued'
    | 'processing'
    | 'sent'
    | 'delivered'
    | 'read'
    | 'failed'
    | 'bounced'
    | 'complained'
    | null;
  /** Time of the first open; null without one */
  openedAt: string | null;
  /** Time of the first click; null without one */
  clickedAt: string | null;
  /** Time at which the contact was checked */
  createdAt: string;
};
/** A program that organizations can install */
export type Extension = {
  /** Id of the extension */
  id: string;
  /** Null for an extension of another organization */
  organizationId: string | null;
  /** Unique name of the extension */
  name: string;
  /** Name to show; null without one */
  displayName: string | null;
  /** Description; null without one */
  description: string | null;
  /** webhook: events are posted to it; hosted: it reads the event stream */
  runtime: 'webhook' | 'hosted';
  /** Whether all organizations may install it */
  isPublic: boolean;
  /** The highest version that is no prerelease, or else the last one; null before the first */
  latestVersion: {
    /** Id of the version */
    id: string;
    /** Number of the version, such as 1.4.0 */
    version: string;
  } | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
};
/** A version without its changelog */
export type ListedExtensionVersion = {
  /** Id of the version */
  id: string;
  /** Id of the extension */
  extensionId: string;
  /** Number of the version (semver) */
  version: string;
  /** Sorted */
  permissions: Array<string>;
  /** Sorted */
  events: Array<string>;
  /** Ways of sending that an installation may have */
  sendModes: Array<'none' | 'approval' | 'send'>;
  /** webhook: events are posted to it; hosted: it reads the event stream */
  runtime: 'webhook' | 'hosted';
  /** Whether it is installed without a choice */
  isLatest: boolean;
  /** Set once it is not offered any more */
  withdrawnAt: string | null;
  /** Time of the publication */
  createdAt: string;
};
/** A published version of an extension */
export type ExtensionVersion = {
  /** Id of the version */
  id: string;
  /** Id of the extension */
  extensionId: string;
  /** Number of the version (semver) */
  version: string;
  /** Sorted */
  permissions: Array<string>;
  /** Sorted */
  events: Array<string>;
  /** Ways of sending that an installation may have */
  sendModes: Array<'none' | 'approval' | 'send'>;
  /** webhook: events are posted to it; hosted: it reads the event stream */
  runtime: 'webhook' | 'hosted';
  /** Whether it is installed without a choice */
  isLatest: boolean;
  /** Set once it is not offered any more */
  withdrawnAt: string | null;
  /** Time of the publication */
  createdAt: string;
  /** Changes of the version; null without any */
  changelog: string | null;
};
/** An extension with its grants */
export type ExtensionInstallation = {
  /** Id of the installation */
  id: string;
  /** Organization of the installation */
  organizationId: string;
  /** Installed extension */
  extensionId: string;
  /** Name of the extension */
  name: string;
  /** Name to show; null without one */
  displayName: string | null;
  /** Installed version */
  version: {
    /** Id of the version */
    id: string;
    /** Number of the version, such as 1.4.0 */
    version: string;
  };
  /** webhook: events are posted to it; hosted: it reads the event stream */
  runtime: 'webhook' | 'hosted';
  /** failing: its webhook was disabled for its failures; enable it once it works */
  status: 'active' | 'failing' | 'disabled';
  /** Time of the installation */
  createdAt: string;
  /** Kinds of events that it may read */
  events: Array<string>;
  /** Permissions that were granted, such as `mailboxes:read` */
  permissions: Array<string>;
  /** none: it never sends; approval: a person approves its mail; send: it sends at once */
  sendMode: 'none' | 'approval' | 'send';
  /** Mailboxes that it reaches; empty: all */
  scope: {
    /** Mailboxes by id */
    mailboxIds: Array<string>;
    /** Namespace whose mailboxes it reaches; null without one */
    namespaceId: string | null;
  };
  /** Time of the last change */
  updatedAt: string;
  /** Time at which it was disabled; null if it is enabled */
  disabledAt: string | null;
  /** Its key, as the audit names it */
  keyId: string;
  /** Person who installed it */
  createdBy: {
    /** Kind of the actor: a person, a key or an installation of an extension */
    kind: 'user' | 'key' | 'installation';
    /** Null for the operator at the command line */
    id: string | null;
    /** Name of the actor at that time; null without one */
    displayName: string | null;
  };
  /** Webhook of the installation; null for the runtime hosted */
  webhook: {
    /** Webhook that gets the events */
    endpointId: string;
    /** For readers without `extensions:write` its origin, followed by `/…` */
    url: string;
  } | null;
};
/** An installation with its credentials, which no other answer has */
export type InstalledExtension = {
  /** Id of the installation */
  id: string;
  /** Organization of the installation */
  organizationId: string;
  /** Installed extension */
  extensionId: string;
  /** Name of the extension */
  name: string;
  /** Name to show; null without one */
  displayName: string | null;
  /** Installed version */
  version: {
    /** Id of the version */
    id: string;
    /** Number of the version, such as 1.4.0 */
    version: string;
  };
  /** webhook: events are posted to it; hosted: it reads the event stream */
  runtime: 'webhook' | 'hosted';
  /** failing: its webhook was disabled for its failures; enable it once it works */
  status: 'active' | 'failing' | 'disabled';
  /** Time of the installation */
  createdAt: string;
  /** Kinds of events that it may read */
  events: Array<string>;
  /** Permissions that were granted, such as `mailboxes:read` */
  permissions: Array<string>;
  /** none: it never sends; approval: a person approves its mail; send: it sends at once */
  sendMode: 'none' | 'approval' | 'send';
  /** Mailboxes that it reaches; empty: all */
  scope: {
    /** Mailboxes by id */
    mailboxIds: Array<string>;
    /** Namespace whose mailboxes it reaches; null without one */
    namespaceId: string | null;
  };
  /** Time of the last change */
  updatedAt: string;
  /** Time at which it was disabled; null if it is enabled */
  disabledAt: string | null;
  /** Its key, as the audit names it */
  keyId: string;
  /** Person who installed it */
  createdBy: {
    /** Kind of the actor: a person, a key or an installation of an extension */
    kind: 'user' | 'key' | 'installation';
    /** Null for the operator at the command line */
    id: string | null;
    /** Name of the actor at that time; null without one */
    displayName: string | null;
  };
  /** Key of the installation: shown only here */
  key: string;
  /** Webhook of the installation; null for the runtime hosted */
  webhook: {
    /** Webhook that gets the events */
    endpointId: string;
    /** For readers without `extensions:write` its origin, followed by `/…` */
    url: string;
    /** Key of the signatures: shown only here */
    secret: string;
  } | null;
};
/** An upgrade, or what one would do */
export type ExtensionUpgrade = {
  /** The installation, as it is now */
  installation: ExtensionInstallation;
  /** Version before the change */
  fromVersion: {
    /** Id of the version */
    id: string;
    /** Number of the version, such as 1.4.0 */
    version: string;
  };
  /** Version after the change */
  toVersion: {
    /** Id of the version */
    id: string;
    /** Number of the version, such as 1.4.0 */
    version: string;
  };
  /** Grants that change */
  permissionDiff: {
    /** Grants that the new version adds, as `permission:…` and `event:…` */
    added: Array<string>;
    /** Grants that the new version no longer has */
    removed: Array<string>;
  };
  /** Whether nothing was changed */
  dryRun: boolean;
  /** Null in a dry run */
  versionChange: InstallationVersionChange | null;
};
/** An upgrade or a rollback */
export type InstallationVersionChange = {
  /** Id of the change */
  id: string;
  /** Organization of the installation */
  organizationId: string;
  /** Id of the installation */
  installationId: string;
  /** Id of the extension */
  extensionId: string;
  /** Version before the change */
  fromVersion: {
    /** Id of the version */
    id: string;
    /** Number of the version, such as 1.4.0 */
    version: string;
  };
  /** Version after the change */
  toVersion: {
    /** Id of the version */
    id: string;
    /** Number of the version, such as 1.4.0 */
    version: string;
  };
  /** Grants that changed */
  permissionDiff: {
    /** Grants that the new version adds, as `permission:…` and `event:…` */
    added: Array<string>;
    /** Grants that the new version no longer has */
    removed: Array<string>;
  };
  /** Person who changed the version */
  changedBy: {
    /** Kind of the actor: a person, a key or an installation of an extension */
    kind: 'user' | 'key' | 'installation';
    /** Null for the operator at the command line */
    id: string | null;
    /** Name of the actor at that time; null without one */
    displayName: string | null;
  };
  /** Time of the change */
  changedAt: string;
};
/** A kind of event with the schema of its data */
export type EventKind = {
  /** Name of the kind */
  type: string;
  /** Meaning of the kind */
  summary: string;
  /** JSON Schema (draft 2020-12) of `data` */
  schema: {
    [name: string]: unknown;
  };
  /** An example of `data` */
  sample: {
    [name: string]: unknown;
  };
};
/** An endpoint that receives events */
export type Webhook = {
  /** Id of the webhook */
  id: string;
  /** Name of the webhook; null without one */
  name: string | null;
  /** For readers without `webhooks:write` its origin, followed by `/…` */
  url: string;
  /** Kinds of events that are posted, such as `message.*` */
  events: Array<string>;
  /** Channels of the events */
  channels: Array<'email'>;
  /** Values are `***` for keys that may only read webhooks */
  headers: {
    [name: string]: string;
  };
  /** disabled: by a person or after failures; suspended: with its installation */
  status: 'active' | 'disabled' | 'suspended';
  /** Reason why it was disabled; null without one */
  disabledReason: string | null;
  /** The installation of an extension that it belongs to */
  installationId: string | null;
  /** Key of the signatures: shown on creation and rotation, else null */
  secret: string | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
};
/** A test event that waits to be posted */
export type WebhookTest = {
  /** True: the event is queued */
  accepted: boolean;
  /** Id of the test event */
  eventId: string;
  /** Id of the delivery */
  deliveryId: string;
};
/** Deliveries by the day of their creation, and their status now */
export type WebhookStats = {
  /** Number of deliveries */
  total: number;
  /** Deliveries that wait or are tried again */
  pending: number;
  /** Deliveries that the endpoint accepted */
  delivered: number;
  /** Deliveries that were given up */
  exhausted: number;
  /** Deliveries that are no longer wanted */
  cancelled: number;
  /** Calendar days of the organization's time zone, oldest first */
  daily: Array<{
    /** Calendar day, such as 2026-01-05 */
    date: string;
    /** Deliveries that wait or are tried again */
    pending: number;
    /** Deliveries that the endpoint accepted */
    delivered: number;
    /** Deliveries that were given up */
    exhausted: number;
    /** Deliveries that are no longer wanted */
    cancelled: number;
  }>;
};
/** A delivery of one event to one endpoint */
export type WebhookDelivery = {
  /** Id of the delivery */
  id: string;
  /** Webhook of the delivery */
  endpointId: string;
  /** The `webhook-id` of its posts */
  eventId: string;
  /** Kind of the event */
  eventType: string;
  /** pending: waits or is tried again; exhausted: given up; cancelled: no longer wanted */
  status: 'pending' | 'delivered' | 'exhausted' | 'cancelled';
  /** Automatic attempts */
  attemptCount: number;
  /** Time of the next attempt; null if none is planned */
  nextAttemptAt: string | null;
  /** Time of the latest attempt; null before the first */
  lastAttemptAt: string | null;
  /** Error of the latest attempt, by hand too; null if it succeeded */
  lastError: string | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
};
/** A delivery with all its attempts */
export type WebhookDeliveryWithAttempts = {
  /** Id of the delivery */
  id: string;
  /** Webhook of the delivery */
  endpointId: string;
  /** The `webhook-id` of its posts */
  eventId: string;
  /** Kind of the event */
  eventType: string;
  /** pending: waits or is tried again; exhausted: given up; cancelled: no longer wanted */
  status: 'pending' | 'delivered' | 'exhausted' | 'cancelled';
  /** Automatic attempts */
  attemptCount: number;
  /** Time of the next attempt; null if none is planned */
  nextAttemptAt: string | null;
  /** Time of the latest attempt; null before the first */
  lastAttemptAt: string | null;
  /** Error of the latest attempt, by hand too; null if it succeeded */
  lastError: string | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
  /** JSON as it is posted; in `data` only ids for callers who may not read the resource */
  payload: string;
  /** Oldest first */
  attempts: Array<{
    /** Id of the attempt */
    id: string;
    /** automatic: by the schedule; manual: by a redelivery */
    trigger: 'automatic' | 'manual';
    /** Time of the attempt */
    at: string;
    /** Duration in milliseconds */
    durationMs: number;
    /** succeeded: the endpoint answered with a status of 200 to 299 */
    outcome: 'succeeded' | 'failed';
    /** HTTP status of the answer; null without one */
    statusCode: number | null;
    /** Kind of the error; null without one */
    errorClass: string | null;
    /** Beginning of the answer; null without one */
    response: string | null;
  }>;
};
/** Outcome of an attempt by hand */
export type WebhookRedelivery = {
  /** True: the attempt was made */
  accepted: boolean;
  /** Id of the delivery */
  deliveryId: string;
  /** Id of the attempt */
  attemptId: string;
  /** Result of the attempt */
  outcome: 'succeeded' | 'failed';
};
/** Logged events that wait to be posted again */
export type WebhookReplay = {
  /** True: the events are queued */
  accepted: boolean;
  /** Number of new deliveries; 10,000 may be pending */
  deliveries: number;
  /** False if more events remain: the oldest are posted first */
  isComplete: boolean;
};
/** A key of an organization */
export type ApiKey = {
  /** Id of the key */
  id: string;
  /** Name, for people; null without one */
  name: string | null;
  /** The plaintext; only in the answer to creation and rotation */
  key: string | null;
  /** First 14 characters of the plaintext */
  start: string;
  /** Description; null without one */
  description: string | null;
  /** Time of creation */
  createdAt: string;
  /** Time of expiry; null without one */
  expiresAt: string | null;
  /** Up to a minute late */
  lastUsedAt: string | null;
  /** False after the key was revoked or rotated */
  isActive: boolean;
  /** Actions by resource; `"*": ["*"]` allows everything */
  permissions: {
    [name: string]: Array<string>;
  };
  /** Role that the permissions come from */
  roleName: string;
  /** Holder of the key: a person or a program */
  owner: 'person' | 'service';
  /** Limits of its use, of the mailboxes it reaches, and of its From addresses */
  constraints: {
    /** Allowed From addresses */
    senders?: Array<string>;
    /** Allowed From domains */
    domains?: Array<string>;
    /** Networks that may use the key, as CIDR */
    ipRanges?: Array<string>;
    /** Mailboxes that the key reaches */
    mailboxIds?: Array<string>;
    /** Namespace whose mailboxes the key reaches */
    namespaceId?: string;
  } | null;
  /** send: mail is sent at once; approval: a person approves it */
  sendMode: 'send' | 'approval';
  /** Member or key that made it; null for the operator */
  createdBy: string | null;
};
/** The place of a person in an organization */
export type Member = {
  /** Id of the member, in this organization */
  id: string;
  /** Address of the person */
  email: string;
  /** Name in this organization; null without one */
  name: string | null;
  /** Role of the member */
  role: 'owner' | 'admin' | 'developer' | 'editor' | 'support' | 'analyst' | 'sender' | 'viewer';
  /** invited: until the person accepts; disabled: signs in here no more */
  status: 'invited' | 'active' | 'disabled';
  /** Ways to sign in; all false for an invited member */
  signIn: {
    /** Whether the service mails links to sign in */
    link: boolean;
    /** Whether the person has a passkey */
    passkey: boolean;
    /** Whether the person is bound to single sign-on */
    provider: boolean;
  };
  /** Member or key that invited; null for the operator and for single sign-on */
  invitedBy: string | null;
  /** Time of the end of the invitation; null without one */
  expiresAt: string | null;
  /** Time of the acceptance; null without one */
  acceptedAt: string | null;
  /** Time of the last request in the console; null without one */
  lastSeenAt: string | null;
  /** Time of the invitation */
  createdAt: string;
};
/** A workspace: every other resource belongs to one */
export type Organization = {
  /** Id of the organization */
  id: string;
  /** Name of the organization */
  name: string;
  /** Name of the plan */
  plan: string;
  /** Whether a payment method is on file */
  paymentMethodOnFile: boolean;
  /** Time zone of the days of statistics, by its IANA name */
  timezone: string;
  /** paused: every send is refused with 403 */
  sendingStatus: 'enabled' | 'paused';
  /** Time of the pause; null without one */
  pausedAt: string | null;
  /** Reason of the pause; null without one */
  pauseReason: string | null;
  /** Review of the organization */
  onboarding: {
    /** Unless it is approved, mail goes only to its own mailboxes and the simulator */
    status: 'approved' | 'pending' | 'rejected';
    /** Number of the application, from 1 */
    generation: number;
  };
  /** Tracking of messages that do not say otherwise */
  tracking: {
    /** Whether opens are recorded */
    opens: boolean;
    /** Whether clicks are recorded */
    clicks: boolean;
  };
  /** Ages in days at which messages, and their content, are deleted; the shorter of this and the configuration counts. Null: the configuration alone */
  retention: {
    /** Days until messages are deleted; null: as configured */
    messagesDays: number | null;
    /** Days until their content is deleted; null: as configured */
    contentDays: number | null;
  };
  /** Keys of the metadata of messages that are searched by index */
  metadataKeys: Array<string>;
  /** strong: a passkey or single sign-on opens the console, any: every sign-in */
  signIn: 'any' | 'strong';
  /** Time of creation */
  createdAt: string;
};
/** A change with its time and its actor */
export type AuditEntry = {
  /** Id of the entry */
  id: string;
  /** Organization of the entry */
  organizationId: string;
  /** Time of the action */
  createdAt: string;
  /** Caller that acted */
  actor: {
    /** A key, an installation of an extension, a member, the operator at the command line, or the service itself */
    type: 'key' | 'installation' | 'member' | 'operator' | 'service';
    /** Key of the caller; null without one */
    keyId: string | null;
    /** Name at that time */
    keyName: string | null;
    /** Member who acted; null without one */
    memberId: string | null;
    /** Name of the member then */
    memberName: string | null;
    /** Address of the member then */
    memberEmail: string | null;
    /** Role of the key or member; null without one */
    role: string | null;
  };
  /** Action, as the noun and the verb */
  action:
    | 'action.approved'
    | 'action.rejected'
    | 'block.created'
    | 'block.deleted'
    | 'block.imported'
    | 'brand.created'
    | 'brand.deleted'
    | 'brand.updated'
    | 'campaign-run.cancelled'
    | 'campaign-run.completed'
    | 'campaign-run.created'
    | 'campaign-run.deleted'
    | 'campaign-run.failed'
    | 'campaign-run.held'
    | 'campaign-run.paused'
    | 'campaign-run.resumed'
    | 'campaign-run.started'
    | 'campaign-run.updated'
    | 'campaign.created'
    | 'campaign.deleted'
    | 'campaign.updated'
    | 'contact-group.created'
    | 'contact-group.deleted'
    | 'contact-group.updated'
    | 'contact.created'
    | 'contact.deleted'
    | 'contact.imported'
    | 'contact.updated'
    | 'conversation.archived'
    | 'conversation.created'
    | 'conversation.deleted'
    | 'conversation.reopened'
    | 'conversation.resolved'
    | 'conversation.updated'
    | 'domain.added'
    | 'domain.catch-all-disabled'
    | 'domain.catch-all-enabled'
    | 'domain.deleted'
    | 'domain.dkim-imported'
    | 'domain.dkim-rotated'
    | 'domain.link-ended'
    | 'domain.link-made'
    | 'domain.resumed'
    | 'domain.verified-by-force'
    | 'draft.created'
    | 'draft.deleted'
    | 'draft.sent'
    | 'draft.updated'
    | 'extension-installation.created'
    | 'extension-installation.deleted'
    | 'extension-installation.disabled'
    | 'extension-installation.enabled'
    | 'extension-installation.rotated'
    | 'extension-installation.updated'
    | 'extension-installation.upgraded'
    | 'extension-version.created'
    | 'extension-version.deleted'
    | 'extension-version.updated'
    | 'extension-version.withdrawn'
    | 'extension.created'
    | 'extension.deleted'
    | 'extension.published'
    | 'extension.updated'
    | 'key.created'
    | 'key.revoked'
    | 'key.rotated'
    | 'key.updated'
    | 'mailbox.created'
    | 'mailbox.deleted'
    | 'mailbox.paused'
    | 'mailbox.resumed'
    | 'mailbox.updated'
    | 'member.accepted'
    | 'member.address-changed'
    | 'member.address-taken-back'
    | 'member.created'
    | 'member.declined'
    | 'member.deleted'
    | 'member.erased'
    | 'member.link-made'
    | 'member.passkey-added'
    | 'member.passkey-refused'
    | 'member.passkey-removed'
    | 'member.provider-bound'
    | 'member.provider-disabled'
    | 'member.provider-joined'
    | 'member.provider-role'
    | 'member.provider-unbound'
    | 'member.resent'
    | 'member.reset'
    | 'member.sessions-ended'
    | 'member.sign-in-failed'
    | 'member.updated'
    | 'message.cancelled'
    | 'message.deleted'
    | 'namespace.created'
    | 'note.created'
    | 'note.deleted'
    | 'note.updated'
    | 'organization.created'
    | 'organization.onboarding-approved'
    | 'organization.onboarding-reapplied'
    | 'organization.onboarding-rejected'
    | 'organization.paused'
    | 'organization.resumed'
    | 'organization.updated'
    | 'queue.dropped'
    | 'queue.flushed'
    | 'queue.held'
    | 'queue.released'
    | 'queue.retried'
    | 'saved-reply.created'
    | 'saved-reply.deleted'
    | 'saved-reply.updated'
    | 'sender.created'
    | 'sender.deleted'
    | 'sender.proof-ended'
    | 'sender.proof-mailed'
    | 'sender.updated'
    | 'sender.verified'
    | 'template-family.created'
    | 'template-family.deleted'
    | 'template-family.updated'
    | 'template.archived'
    | 'template.bundled'
    | 'template.created'
    | 'template.deleted'
    | 'template.discarded'
    | 'template.published'
    | 'template.pushed'
    | 'template.restored'
    | 'template.saved'
    | 'template.staged'
    | 'template.updated'
    | 'thread.deleted'
    | 'thread.updated'
    | 'tracking.disabled'
    | 'tracking.enabled'
    | 'unsubscribe-group.confirmed'
    | 'unsubscribe-group.created'
    | 'unsubscribe-group.deleted'
    | 'unsubscribe-group.updated'
    | 'warming.cancelled'
    | 'warming.completed'
    | 'warming.held'
    | 'warming.paused'
    | 'warming.resumed'
    | 'warming.started'
    | 'webhook.created'
    | 'webhook.deleted'
    | 'webhook.disabled'
    | 'webhook.secret-rotated'
    | 'webhook.updated';
  /** Resource that changed */
  resource: {
    /** Type of the resource */
    type: string;
    /** Null for a change of many resources at once */
    id: string | null;
  };
  /** Changed fields as `{field: {before, after}}`, and further details */
  details: {
    [name: string]: unknown;
  };
};
/** Emails of an organization in a month */
export type Usage = {
  /** Mail of the month */
  usage: {
    /** First moment of the month (UTC) */
    periodStart: string;
    /** The first moment of the next month */
    periodEnd: string;
    /** Accepted emails, one for each recipient */
    emailCount: number;
    /** Messages accepted and received */
    totalMessages: number;
  };
  /** Emails against the plan */
  billing: {
    /** Currency of the cost, ISO 4217 */
    currency: 'USD';
    /** Name of the plan */
    planName: string;
    /** Null: without end */
    includedEmails: number | null;
    /** Accepted emails, one for each recipient */
    usedEmails: number;
    /** Emails beyond the included number */
    overageEmails: number;
    /** With six decimals; `0` for a plan that includes emails without end */
    overageCost: string;
  };
};
/** Results of the messages accepted in a range */
export type ChannelStats = {
  /** Results of email */
  email: {
    /** Outbound messages accepted in the range */
    sent: number;
    /** Rate over attempted mail, from 0 to 1 */
    deliveryRate: number;
    /** Delivered messages that were opened at least once */
    uniqueOpenedMessages: number;
    /** Delivered messages with open tracking */
    openTrackingEligibleDeliveredMessages: number;
    /** Share of delivered messages with open tracking that were opened, from 0 to 1 */
    uniqueMessageOpenRate: number;
    /** Delivered messages with at least one click */
    uniqueClickedMessages: number;
    /** Delivered messages with click tracking */
    clickTrackingEligibleDeliveredMessages: number;
    /** Share of delivered messages with click tracking that were clicked, from 0 to 1 */
    uniqueMessageClickRate: number;
    /** Rate over attempted mail, from 0 to 1 */
    bounceRate: number;
  };
};
/** Mail by the day or hour of its acceptance, whenever its outcome came */
export type Timeseries = {
  /** Time zone of the buckets (IANA) */
  timezone: string;
  /** Length of a bucket */
  interval: 'day' | 'hour';
  /** Buckets, oldest first */
  items: Array<{
    /** Beginning of the bucket */
    start: string;
    /** Outbound messages accepted */
    messages: number;
    /** Accepted, one for each recipient */
    emails: number;
    /** Sent, bounced or given up; without waiting mail */
    attempted: number;
    /** Emails that a server accepted */
    sent: number;
    /** Emails that count as delivered */
    delivered: number;
    /** Emails that bounced */
    bounced: number;
    /** Emails that were given up */
    failed: number;
    /** Emails that were reported as spam */
    complained: number;
    /** Messages received */
    inbound: number;
  }>;
};
/** Mail by recipient domain and day (UTC) of its acceptance. The first 200 domains of a day have a counter each */
export type DomainStats = {
  /** Recipient domains, the largest first */
  items: Array<{
    /** `*`: all domains without a counter of their own */
    domain: string;
    /** Accepted, one for each recipient */
    emails: number;
    /** Sent, bounced or given up; without waiting mail */
    attempted: number;
    /** Emails that a server accepted */
    sent: number;
    /** Emails that count as delivered */
    delivered: number;
    /** Emails that bounced */
    bounced: number;
    /** Emails that were given up */
    failed: number;
    /** Emails that were reported as spam */
    complained: number;
    /** Rate over attempted mail, from 0 to 1 */
    deliveryRate: number;
    /** Rate over attempted mail, from 0 to 1 */
    bounceRate: number;
  }>;
};
/** Results of the messages accepted on the days (UTC) of a range, by campaign, template, sender or recipient domain. The first 200 of a day have a counter each. A message to several domains counts for the domain of the first recipient */
export type BreakdownStats = {
  /** Trait by which the mail is counted */
  by: 'campaign' | 'template' | 'sender' | 'domain';
  /** The most emails first, at most 1,000 */
  items: Array<{
    /** Id of the campaign, template or sender, or the domain; `*`: all without a counter of their own, and mail from an address that is no sender */
    key: string;
    /** Name of the campaign or template, address of the sender, or the domain; null for a deleted resource, and for `*` */
    name: string | null;
    /** Outbound messages accepted in the range */
    sent: number;
    /** Rate over attempted mail, from 0 to 1 */
    deliveryRate: number;
    /** Delivered messages that were opened at least once */
    uniqueOpenedMessages: number;
    /** Delivered messages with open tracking */
    openTrackingEligibleDeliveredMessages: number;
    /** Share of delivered messages with open tracking that were opened, from 0 to 1 */
    uniqueMessageOpenRate: number;
    /** Delivered messages with at least one click */
    uniqueClickedMessages: number;
    /** Delivered messages with click tracking */
    clickTrackingEligibleDeliveredMessages: number;
    /** Share of delivered messages with click tracking that were clicked, from 0 to 1 */
    uniqueMessageClickRate: number;
    /** Rate over attempted mail, from 0 to 1 */
    bounceRate: number;
  }>;
};
/** Data of an event of a message */
export type MessageEventRecord = (MessageEventData & { deleted?: false }) | DeletedMessage;
/** The message as it is now, with its status at the event */
export type MessageEventData = {
  /** Id of the message */
  id: string;
  /** Organization of the message */
  organizationId: string;
  /** Always `email` */
  channel: 'email';
  /** outbound: sent by the service; inbound: received */
  direction: 'outbound' | 'inbound';
  /** Status over all recipients */
  status:
    | 'pending'
    | 'scheduled'
    | 'queued'
    | 'processing'
    | 'sent'
    | 'delivered'
    | 'read'
    | 'failed'
    | 'bounced'
    | 'complained';
  /** Conversation of the message; null without one */
  conversationId: string | null;
  /** Campaign run that made the message; null without one */
  campaignRunId: string | null;
  /** Kind of mail, which its recipients can leave */
  unsubscribeGroupId: string | null;
  /** Subject line; null without one */
  subject: string | null;
  /** Sender */
  from: {
    /** Address of the sender */
    email: string;
    /** Display name of the sender; null without one */
    name: string | null;
  };
  /** Addresses that replies go to; null: the sender */
  replyTo: Array<string> | null;
  /** Recipients in To */
  to: Array<{
    /** Email address */
    email: string;
    /** Display name; null without one */
    name: string | null;
    /** Contact with this address; null for an unknown address */
    contactId: string | null;
  }>;
  /** Recipients in Cc */
  cc: Array<{
    /** Email address */
    email: string;
    /** Display name; null without one */
    name: string | null;
    /** Contact with this address; null for an unknown address */
    contactId: string | null;
  }>;
  /** Recipients in Bcc, hidden from all recipients */
  bcc: Array<{
    /** Email address */
    email: string;
    /** Display name; null without one */
    name: string | null;
    /** Contact with this address; null for an unknown address */
    contactId: string | null;
  }>;
  /** Every recipient with the status of the delivery */
  recipients: Array<{
    /** Email address */
    email: string;
    /** Display name; null without one */
    name: string | null;
    /** Contact with this address; null for an unknown address */
    contactId: string | null;
    /** Id of the recipient */
    id: string;
    /** Header field that names the recipient; bcc is in none */
    kind: 'to' | 'cc' | 'bcc';
    /** Status for this recipient */
    status:
      | 'pending'
      | 'scheduled'
      | 'queued'
      | 'processing'
      | 'sent'
      | 'delivered'
      | 'read'
      | 'failed'
      | 'bounced'
      | 'complained';
  }>;
  /** Deliveries, one for each recipient */
  deliveries: Array<Delivery>;
  /** Template that was filled; null for inline content */
  templateId: string | null;
  /** Number of the version of the template that was sent */
  templateVersion: number | null;
  /** Tags of the send */
  tags: Array<string>;
  /** Values that the sender of the request attached */
  metadata: {
    [name: string]: string | number | boolean | null;
  };
  /** Tracking of this message */
  tracking: {
    /** Whether opens are recorded */
    opens: boolean;
    /** Whether clicks are recorded */
    clicks: boolean;
  };
  /** Planned time of a scheduled message; null without one */
  scheduledFor: string | null;
  /** Earlier message that this one repeats or releases */
  resendOf: string | null;
  /** Origin of the message; null for received mail, and for old messages */
  origin: MessageOrigin | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
  /** An event of a message, with its recipient and further details */
  event: {
    /** Null for events of all recipients */
    recipient: string | null;
    /** Code of the error; null without one */
    errorCode: string | null;
    /** Reply of the server */
    reply: string | null;
    /** URL of a followed link */
    url: string | null;
    [name: string]: unknown;
  };
};
/** The message was deleted since */
export type DeletedMessage = {
  /** Id of the deleted message */
  id: string;
  /** Always true */
  deleted: true;
};
/** A message that a mailbox received */
export type ReceivedMailboxMessage = {
  /** Mailbox of the message */
  mailboxId: string;
  /** Thread of the message; null without one */
  threadId: string | null;
  /** The message */
  message: {
    /** Id of the message */
    id: string;
    /** Subject line; null without one */
    subject: string | null;
    [name: string]: unknown;
  };
  /** The mail, read when it is first posted. Only in posts of webhooks, and absent once the message is deleted */
  email?: {
    /** Plain text of the mail with its quotes, at most 64 KB */
    text: string | null;
    /** `GET /v1/messages/{id}/email` has the whole text */
    textTruncated: boolean;
    /** Verdict of SPF: pass, fail …; null if it was not checked */
    spfVerdict: string | null;
    /** Verdict of DKIM: pass, fail …; null if it was not checked */
    dkimVerdict: string | null;
    /** Verdict of DMARC: pass, fail …; null if it was not checked */
    dmarcVerdict: string | null;
    /** Verdict of ARC: pass, fail …; null if it was not checked */
    arcVerdict: string | null;
    /** Attached files, without their bytes */
    attachments: Array<{
      /** Its number, from 1, in the path of attachments */
      n: number;
      /** Name of the file */
      filename: string | null;
      /** Media type of the file */
      contentType: string;
      /** Bytes of the file */
      size: number;
    }>;
  };
};
/** A message in a mailbox */
export type MailboxMessage = {
  /** Mailbox of the message */
  mailboxId: string;
  /** Thread of the message; null without one */
  threadId: string | null;
  /** The message */
  message: {
    /** Id of the message */
    id: string;
    /** Subject line; null without one */
    subject: string | null;
    [name: string]: unknown;
  };
};
/** Changes made by an import */
export type ContactImport = {
  /** Id of its entry in the audit */
  id: string;
  /** Format of the file */
  format: string;
  /** Contacts that were created */
  created: number;
  /** Contacts that were changed */
  updated: number;
  /** Contacts that had these values already */
  unchanged: number;
  /** Rows that were refused */
  rejected: number;
  /** Contacts that now wait for a confirmation */
  pending?: number;
};
/** A plan and its domain */
export type WarmingRecord = {
  /** Id of the plan */
  id: string;
  /** State of the plan */
  status: 'active' | 'paused' | 'held' | 'completed' | 'cancelled';
  /** History of the domain at receivers; recorded, it changes no number */
  identity: 'new' | 'migrating' | 'returning';
  /** Recipients of the first window of 24 hours */
  initialDailyRecipients: number;
  /** Growth from window to window, in percent */
  dailyGrowthPercent: number;
  /** Recipients of a window at which the plan is completed */
  targetDailyRecipients: number;
  /** count: direct sends above the allowance leave at once; defer: they wait for a later window */
  direct: 'count' | 'defer';
  /** Reason of the hold; null without one */
  holdReason: string | null;
  /** Time of the hold; null without one */
  heldAt: string | null;
  /** Time of the pause; null without one */
  pausedAt: string | null;
  /** Time of completion; null before */
  completedAt: string | null;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
  /** Domain of the plan */
  domain: {
    /** Id of the domain */
    id: string;
    /** Domain name in A-labels */
    domain: string;
  };
};
/** The request is not valid HTTP or JSON */
export type MalformedRequestError = {
  /** Kind of the error */
  _tag: 'MalformedRequestError';
  /** Sentence on the cause and the next step */
  message: string;
};
/** The body is well formed, but has wrong fields; `fields` names each */
export type ValidationError = {
  /** Kind of the error */
  _tag: 'ValidationError';
  /** Sentence on the cause and the next step */
  message: string;
  /** Maps the dotted path of a field to its faults */
  fields?: {
    [name: string]: Array<string>;
  };
};
/** This organization has no such resource */
export type ResourceNotFoundError = {
  /** Kind of the error */
  _tag: 'ResourceNotFoundError';
  /** Type of the missing resource */
  resource: string;
  /** Id or path of the request */
  id: string;
  /** The nearest operation, for a path of another service */
  hint?: string;
};
/** The key is missing or not valid */
export type UnauthorizedError = {
  /** Kind of the error */
  _tag: 'UnauthorizedError';
  /** Sentence on the cause and the next step */
  message: string;
};
/** A limit of the plan is reached */
export type PaymentRequiredError = {
  /** Kind of the error */
  _tag: 'PaymentRequiredError';
  /** Name of the limit that is reached */
  resource: string;
  /** Usage so far, in the unit of the limit */
  currentUsage: number;
  /** Most that the plan allows */
  limit: number;
  /** Operation that was refused */
  operation: string;
};
/** The key, the sender or the organization may not send */
export type ForbiddenError = {
  /** Kind of the error */
  _tag: 'ForbiddenError';
  /** Sentence on the cause and the next step */
  message: string;
};
/** The key, the sender or the organization may not send */
export type FlagDisabledError = {
  /** Kind of the error */
  _tag: 'FlagDisabledError';
  /** Name of the flag */
  flag: string;
  /** Sentence on the cause and the next step */
  message: string;
};
/** The request contradicts the state of the resource */
export type ConflictError = {
  /** Kind of the error */
  _tag: 'ConflictError';
  /** Sentence on the cause and the next step */
  message: string;
  /** Type of the resource in conflict */
  resource: string;
};
/** The rate limit for sends refused the request; wait for `Retry-After` */
export type RateLimitedError = {
  /** Kind of the error */
  _tag: 'RateLimitedError';
  /** Seconds to wait, as a whole number */
  retryAfterSeconds: number;
  /** Operation that was refused */
  operation: string;
};
/** A dependency of the service failed */
export type ExternalServiceError = {
  /** Kind of the error */
  _tag: 'ExternalServiceError';
  /** Service that failed */
  provider: string;
  /** Sentence on the cause and the next step */
  message: string;
};
/** A dependency of the service failed */
export type BillingProviderError = {
  /** Kind of the error */
  _tag: 'BillingProviderError';
  /** Service that failed */
  provider: string;
  /** Sentence on the cause and the next step */
  message: string;
};
/** A fault of the service; safe to repeat with the same `Idempotency-Key` */
export type InternalError = {
  /** Kind of the error */
  _tag: 'InternalError';
  /** Sentence on the cause and the next step */
  message: string;
};
/** A fault of the service; safe to repeat with the same `Idempotency-Key` */
export type WebhookEnqueueError = {
  /** Kind of the error */
  _tag: 'WebhookEnqueueError';
  /** Sentence on the cause and the next step */
  message: string;
};
/** No capacity now: nothing was done; repeat with backoff */
export type CapacityError = {
  /** Kind of the error */
  _tag: 'CapacityError';
  /** Sentence on the cause and the next step */
  message: string;
  /** Seconds to wait, as a whole number */
  retryAfterSeconds: number;
};
/** The request took too long; it may still take effect */
export type TimeoutError = {
  /** Kind of the error */
  _tag: 'TimeoutError';
  /** Sentence on the cause and the next step */
  message: string;
  /** Seconds to wait, as a whole number */
  retryAfterSeconds: number;
};
export type MessagesListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only this channel */
  channel?: 'email';
  /** Only this direction */
  direction?: 'outbound' | 'inbound';
  /** Only this status */
  status?:
    | 'pending'
    | 'scheduled'
    | 'queued'
    | 'processing'
    | 'sent'
    | 'delivered'
    | 'read'
    | 'failed'
    | 'bounced'
    | 'complained';
  /** Only messages of this conversation */
  conversationId?: string;
  /** Only messages of this contact */
  contactId?: string;
  /** Only messages created at or after this time, ISO 8601 */
  startDate?: string | Date;
  /** Only messages created at or before this time; a bare date includes that day */
  endDate?: string | Date;
  /** Only messages created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only messages created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Only messages with this address in `to`, `cc` or `bcc` */
  recipient?: string;
  /** Only messages from this address */
  sender?: string;
  /** Only messages with a subject that begins so, in any case of letters */
  subject?: string;
  /** Only messages with this tag */
  tag?: string;
  /** Only messages of this run of a campaign */
  campaignRunId?: string;
  /** Only messages that this template filled */
  templateId?: string;
  /** Only messages with this metadata, as `NAME=VALUE`; `metadata.NAME=VALUE` says the same. A key that the organization does not declare needs a further filter or a time range */
  metadata?: unknown;
};
export type MessagesExpectQuery = {
  /** Address of the recipient */
  to: string;
  /** RE2 pattern that a part of the subject matches, in any case of letters */
  subject?: string;
  /** Only mail created (default: the last minute) from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Longest wait in seconds, at most 25, and 3 less than the time limit of a request */
  within?: string;
};
export type MessagesGetEmailQuery = {
  /** Also give URLs that download the parts without a key */
  includeStorageUrls?: boolean | 'true' | 'false';
  /** Lifetime of the storage URLs in seconds, 60 to 604800 (default 3600) */
  urlExpiresIn?: number;
  /** Recipient whose copy the `raw` URL gives, of a sent message's (default: the first) */
  recipient?: string;
};
export type MailboxesListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only mailboxes created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only mailboxes created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Only this status */
  status?: 'active' | 'paused';
  /** Only mailboxes of this namespace */
  namespaceId?: string;
};
export type MailboxesListEventsQuery = {
  /** Only events of these kinds, such as `message.*,domain.failed` */
  type?: string;
  /** Only events from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only events before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Order of the list: `asc` is oldest first */
  order?: 'asc' | 'desc';
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before, with the same filters */
  cursor?: string;
};
export type DraftsListQuery = {
  /** Only drafts created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only drafts created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before */
  cursor?: string;
};
export type MailboxesGetActivityQuery = {
  /** Only actions and events from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only actions and events before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type MailboxesListActionsQuery = {
  /** Only actions created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only actions created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Only actions in this state */
  state?: 'proposed' | 'approved' | 'rejected' | 'executed' | 'failed' | 'expired';
  /** Only actions of this type */
  type?: 'sendMessage' | 'reply' | 'forward' | 'label' | 'move' | 'note';
  /** Only actions of this key, installation or member */
  actor?: string;
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before, with the same filters */
  cursor?: string;
};
export type MailboxActionsListAllQuery = {
  /** Only actions created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only actions created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Only actions in this state */
  state?: 'proposed' | 'approved' | 'rejected' | 'executed' | 'failed' | 'expired';
  /** Only actions of this type */
  type?: 'sendMessage' | 'reply' | 'forward' | 'label' | 'move' | 'note';
  /** Only actions of this key, installation or member */
  actor?: string;
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before, with the same filters */
  cursor?: string;
};
export type MailboxNamespacesListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only namespaces created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only namespaces created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type ThreadsListQuery = {
  /** Only threads with their last activity from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only threads with their last activity before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Search words, all in one message: in its subject, its sender or its text. `"a phrase"`, `from:`, `subject:`, `has:attachment`, and a trailing `*`. A page before the last may be short */
  q?: string;
  /** Only this folder (default: all but `spam` and `trash`) */
  folder?: 'inbox' | 'sent' | 'archive' | 'spam' | 'trash' | 'drafts';
  /** Only threads with this label */
  label?: string;
  /** Only unread threads, or only read ones */
  unread?: boolean | 'true' | 'false';
  /** Only starred threads, or only others */
  starred?: boolean | 'true' | 'false';
  /** Only snoozed threads, or only others */
  snoozed?: boolean | 'true' | 'false';
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before */
  cursor?: string;
};
export type ThreadsListMessagesQuery = {
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before */
  cursor?: string;
  /** Only messages from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only messages before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type ThreadsListNotesQuery = {
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before */
  cursor?: string;
  /** Only notes created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only notes created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type SavedRepliesListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only saved replies created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only saved replies created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type DomainsListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only domains created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only domains created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type DomainsListDmarcReportsQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Number of days back: 30 (default), at most 90 */
  days?: number;
};
export type SendersListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only senders created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only senders created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Only senders with this status */
  verificationStatus?: 'pending' | 'verified';
  /** Only senders that may send, or may not */
  isActive?: boolean | 'true' | 'false';
  /** Only the default sender, or the others */
  isDefault?: boolean | 'true' | 'false';
};
export type BlocksListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only blocks created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only blocks created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Only blocks with this reason */
  reason?: 'bounce' | 'complaint' | 'unsubscribe' | 'manual';
  /** Only blocks of this address, in any case of letters */
  address?: string;
};
export type UnsubscribeGroupsListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only groups created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only groups created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type UnsubscribeGroupsListMembersQuery = {
  /** Only members in this state */
  status?: 'pending' | 'confirmed';
  /** Only members added from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only members added before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before, with the same filters */
  cursor?: string;
};
export type BrandsListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only brands created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only brands created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type TemplatesListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only templates created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only templates created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Only templates in this state */
  status?: 'draft' | 'published' | 'archived';
  /** Only templates for this channel */
  channel?: 'email';
  /** Only the template with this slug */
  slug?: string;
  /** Only templates of this family */
  familyId?: string;
};
export type TemplatesListVersionsQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only versions published from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only versions published before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type TemplatesListHistoryQuery = {
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before */
  cursor?: string;
};
export type TemplatesDiffCommitsQuery = {
  /** Older commit (default: the head of main) */
  from?: string;
  /** Newer commit (default: the draft) */
  to?: string;
};
export type TemplatesListFamiliesQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only families created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only families created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type ContactsImportQuery = {
  /** Count the changes without applying them */
  dryRun?: boolean | 'true' | 'false';
  /** Field for a column, as COLUMN=FIELD; several times for several columns */
  map?: string | Array<string>;
  /** Id of a double opt-in group: each contact of the file that can get mail is asked to confirm it, unless it was asked before */
  requireConfirmation?: string;
};
export type ContactsExportQuery = {
  /** Format of the file */
  format?: 'csv' | 'ndjson';
};
export type ContactsListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only contacts created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only contacts created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Only contacts with this tag */
  tag?: string;
  /** Only contacts with this address, in any case of letters */
  email?: string;
  /** Only the contact with this id of your own */
  externalId?: string;
  /** Only this status */
  status?: 'active' | 'unsubscribed' | 'bounced' | 'complained' | 'archived';
  /** Only contacts with a name or first address that begins so; of frequent words, among the newest 5,000 */
  q?: string;
  /** Only contacts changed from this time on */
  updatedSince?: string | Date;
};
export type ContactsListTagsQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
};
export type ConversationsListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only conversations created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only conversations created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Only this status */
  status?: 'active' | 'waiting' | 'resolved' | 'archived';
  /** Only conversations with this tag */
  tag?: string;
  /** Only the conversation with this id of your own */
  externalId?: string;
  /** Only conversations with this contact */
  contactId?: string;
};
export type ContactGroupsListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only groups created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only groups created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type ContactGroupsListMembersQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
};
export type CampaignsListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only campaigns created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only campaigns created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type CampaignsEstimateQuery = {
  /** Time of the start, ISO 8601 with an offset (default: now) */
  scheduledFor?: string | Date;
};
export type CampaignsListRunsQuery = {
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before, with the same filters */
  cursor?: string;
  /** Only runs created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only runs created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type CampaignsListRunRecipientsQuery = {
  /** Only contacts judged from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only contacts judged before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Only contacts with this outcome */
  outcome?: 'dispatched' | 'failed' | 'skipped';
  /** Only contacts that failed or were skipped for this reason */
  reason?: string;
  /** Only contacts whose message has this status now */
  status?:
    | 'pending'
    | 'scheduled'
    | 'queued'
    | 'processing'
    | 'sent'
    | 'delivered'
    | 'read'
    | 'failed'
    | 'bounced'
    | 'complained';
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before, with the same filters */
  cursor?: string;
};
export type ExtensionsListQuery = {
  /** Only extensions created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only extensions created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before, with the same filters */
  cursor?: string;
};
export type ExtensionsListVersionsQuery = {
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before, with the same filters */
  cursor?: string;
  /** Only versions published from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only versions published before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type ExtensionInstallationsListQuery = {
  /** Only installations with this status */
  status?: 'active' | 'failing' | 'disabled';
  /** Only those of this extension */
  extensionId?: string;
  /** Only installations made from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only installations made before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before, with the same filters */
  cursor?: string;
};
export type ExtensionInstallationsListInstallationVersionChangesQuery = {
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before, with the same filters */
  cursor?: string;
  /** Only changes from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only changes before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type EventsListQuery = {
  /** Only events of these kinds, such as `message.*,domain.failed` */
  type?: string;
  /** Only events of the message, or other resource, with this id */
  subject?: string;
  /** Only events from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only events before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Order of the list: `asc` is oldest first */
  order?: 'asc' | 'desc';
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before, with the same filters */
  cursor?: string;
};
export type WebhooksListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only endpoints created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only endpoints created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type WebhooksGetStatsQuery = {
  /** Days, today included: 7, 30 (default) or 90 */
  period?: 7 | 30 | 90;
};
export type WebhooksListDeliveriesQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only deliveries with this status */
  status?: 'pending' | 'delivered' | 'exhausted' | 'cancelled';
  /** Only deliveries of these kinds, such as `message.*,domain.failed` */
  eventType?: string;
  /** Only deliveries created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only deliveries created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type ApiKeysListQuery = {
  /** Only keys that this member or key made */
  createdBy?: string;
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only keys created from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only keys created before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type MembersListQuery = {
  /** Page number, from 1 */
  page?: number;
  /** Items per page, at most 100 */
  limit?: number;
  /** Only members invited from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only members invited before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
};
export type AuditListQuery = {
  /** Only this kind of change */
  action?:
    | 'action.approved'
    | 'action.rejected'
    | 'block.created'
    | 'block.deleted'
    | 'block.imported'
    | 'brand.created'
    | 'brand.deleted'
    | 'brand.updated'
    | 'campaign-run.cancelled'
    | 'campaign-run.completed'
    | 'campaign-run.created'
    | 'campaign-run.deleted'
    | 'campaign-run.failed'
    | 'campaign-run.held'
    | 'campaign-run.paused'
    | 'campaign-run.resumed'
    | 'campaign-run.started'
    | 'campaign-run.updated'
    | 'campaign.created'
    | 'campaign.deleted'
    | 'campaign.updated'
    | 'contact-group.created'
    | 'contact-group.deleted'
    | 'contact-group.updated'
    | 'contact.created'
    | 'contact.deleted'
    | 'contact.imported'
    | 'contact.updated'
    | 'conversation.archived'
    | 'conversation.created'
    | 'conversation.deleted'
    | 'conversation.reopened'
    | 'conversation.resolved'
    | 'conversation.updated'
    | 'domain.added'
    | 'domain.catch-all-disabled'
    | 'domain.catch-all-enabled'
    | 'domain.deleted'
    | 'domain.dkim-imported'
    | 'domain.dkim-rotated'
    | 'domain.link-ended'
    | 'domain.link-made'
    | 'domain.resumed'
    | 'domain.verified-by-force'
    | 'draft.created'
    | 'draft.deleted'
    | 'draft.sent'
    | 'draft.updated'
    | 'extension-installation.created'
    | 'extension-installation.deleted'
    | 'extension-installation.disabled'
    | 'extension-installation.enabled'
    | 'extension-installation.rotated'
    | 'extension-installation.updated'
    | 'extension-installation.upgraded'
    | 'extension-version.created'
    | 'extension-version.deleted'
    | 'extension-version.updated'
    | 'extension-version.withdrawn'
    | 'extension.created'
    | 'extension.deleted'
    | 'extension.published'
    | 'extension.updated'
    | 'key.created'
    | 'key.revoked'
    | 'key.rotated'
    | 'key.updated'
    | 'mailbox.created'
    | 'mailbox.deleted'
    | 'mailbox.paused'
    | 'mailbox.resumed'
    | 'mailbox.updated'
    | 'member.accepted'
    | 'member.address-changed'
    | 'member.address-taken-back'
    | 'member.created'
    | 'member.declined'
    | 'member.deleted'
    | 'member.erased'
    | 'member.link-made'
    | 'member.passkey-added'
    | 'member.passkey-refused'
    | 'member.passkey-removed'
    | 'member.provider-bound'
    | 'member.provider-disabled'
    | 'member.provider-joined'
    | 'member.provider-role'
    | 'member.provider-unbound'
    | 'member.resent'
    | 'member.reset'
    | 'member.sessions-ended'
    | 'member.sign-in-failed'
    | 'member.updated'
    | 'message.cancelled'
    | 'message.deleted'
    | 'namespace.created'
    | 'note.created'
    | 'note.deleted'
    | 'note.updated'
    | 'organization.created'
    | 'organization.onboarding-approved'
    | 'organization.onboarding-reapplied'
    | 'organization.onboarding-rejected'
    | 'organization.paused'
    | 'organization.resumed'
    | 'organization.updated'
    | 'queue.dropped'
    | 'queue.flushed'
    | 'queue.held'
    | 'queue.released'
    | 'queue.retried'
    | 'saved-reply.created'
    | 'saved-reply.deleted'
    | 'saved-reply.updated'
    | 'sender.created'
    | 'sender.deleted'
    | 'sender.proof-ended'
    | 'sender.proof-mailed'
    | 'sender.updated'
    | 'sender.verified'
    | 'template-family.created'
    | 'template-family.deleted'
    | 'template-family.updated'
    | 'template.archived'
    | 'template.bundled'
    | 'template.created'
    | 'template.deleted'
    | 'template.discarded'
    | 'template.published'
    | 'template.pushed'
    | 'template.restored'
    | 'template.saved'
    | 'template.staged'
    | 'template.updated'
    | 'thread.deleted'
    | 'thread.updated'
    | 'tracking.disabled'
    | 'tracking.enabled'
    | 'unsubscribe-group.confirmed'
    | 'unsubscribe-group.created'
    | 'unsubscribe-group.deleted'
    | 'unsubscribe-group.updated'
    | 'warming.cancelled'
    | 'warming.completed'
    | 'warming.held'
    | 'warming.paused'
    | 'warming.resumed'
    | 'warming.started'
    | 'webhook.created'
    | 'webhook.deleted'
    | 'webhook.disabled'
    | 'webhook.secret-rotated'
    | 'webhook.updated';
  /** Only changes to the resource with this id */
  resource?: string;
  /** Only changes from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
  /** Only changes before this time */
  before?: string | Date;
  /** The same as `before` */
  until?: string | Date;
  /** Items per page, at most 100 */
  limit?: number;
  /** `nextCursor` of the page before, with the same filters */
  cursor?: string;
};
export type OrganizationsGetUsageQuery = {
  /** Month (UTC) as `YYYY-MM` (default: `current`) */
  period?: string | null;
};
export type AnalyticsGetChannelStatsQuery = {
  /** A day in the organization's time zone, or an instant, rounded down to its hour. Default: 30 days ago */
  startDate?: string | null | Date;
  /** The last day (included whole), or an instant. Default: now */
  endDate?: string | null | Date;
};
export type AnalyticsGetTimeseriesQuery = {
  /** A day in the organization's time zone, or an instant, rounded down to its hour. Default: 30 days ago */
  startDate?: string | null | Date;
  /** The last day (included whole), or an instant. Default: now */
  endDate?: string | null | Date;
  /** At most 366 days, or 31 days by the hour */
  interval?: 'day' | 'hour';
};
export type DomainsGetStatsQuery = {
  /** A day in the organization's time zone, or an instant, rounded down to its hour. Default: 30 days ago */
  startDate?: string | null | Date;
  /** The last day (included whole), or an instant. Default: now */
  endDate?: string | null | Date;
  /** Number of domains, those with the most emails first */
  limit?: number;
};
export type AnalyticsGetBreakdownQuery = {
  /** Rows of the answer; `domain` is of recipients */
  by: 'campaign' | 'template' | 'sender' | 'domain';
  /** A day in the organization's time zone, or an instant, rounded down to its hour. Default: 30 days ago */
  startDate?: string | null | Date;
  /** The last day (included whole), or an instant. Default: now */
  endDate?: string | null | Date;
  /** csv: the same rows as CSV, with a line of names */
  format?: 'json' | 'csv';
};
export type EventsStreamQuery = {
  /** Only events of these kinds, such as `message.*,domain.failed` */
  type?: string;
  /** Only events of the message, or other resource, with this id */
  subject?: string;
  /** Only events from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
};
export type MailboxesStreamEventsQuery = {
  /** Only events of these kinds, such as `message.*,domain.failed` */
  type?: string;
  /** Only events from this time on */
  after?: string | Date;
  /** The same as `after` */
  since?: string | Date;
};
/** An event, by `type`. */
export type Event =
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'message.accepted';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MessageEventRecord;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'message.scheduled';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MessageEventRecord;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'message.deferred';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MessageEventRecord;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'message.sent';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MessageEventRecord;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'message.delivered';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MessageEventRecord;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'message.opened';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MessageEventRecord;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'message.clicked';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MessageEventRecord;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'message.bounced';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MessageEventRecord;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'message.complained';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MessageEventRecord;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'message.failed';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MessageEventRecord;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'message.cancelled';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MessageEventRecord;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'message.unsubscribed';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MessageEventRecord;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'mailbox.created';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Mailbox;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'mailbox.updated';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Mailbox;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'mailbox.paused';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Mailbox;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'mailbox.resumed';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Mailbox;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'mailbox.deleted';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Mailbox;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'mailbox.message.received';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: ReceivedMailboxMessage;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'mailbox.message.sent';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MailboxMessage;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'mailbox.action.proposed';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MailboxAction;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'mailbox.action.approved';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MailboxAction;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'mailbox.action.rejected';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: MailboxAction;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'domain.verified';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Domain;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'domain.failing';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Domain;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'domain.failed';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Domain;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'domain.held';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Domain;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'domain.resumed';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Domain;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'sender.verified';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Sender;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'workspace.warning';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Organization;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'workspace.paused';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Organization;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'workspace.resumed';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Organization;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'contact.created';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Contact;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'contact.updated';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Contact;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'contact.deleted';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: {
        /** Id of the deleted resource */
        id: string;
        /** Always true */
        deleted: true;
      };
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'contact.imported';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: ContactImport;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'contact.unsubscribed';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Contact;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'conversation.created';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Conversation;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'conversation.updated';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Conversation;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'template.published';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Template;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'warming.held';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: WarmingRecord;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'warming.completed';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: WarmingRecord;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'campaign.run.started';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: CampaignRunSummary;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'campaign.run.completed';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: CampaignRunSummary;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'campaign.run.held';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: CampaignRunSummary;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'campaign.run.failed';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: CampaignRunSummary;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'extension.installation.created';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: ExtensionInstallation;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'extension.installation.upgraded';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: ExtensionInstallation;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'extension.installation.disabled';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: ExtensionInstallation;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'service.finding';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: {
        /** Name of the check */
        check: string;
        /** warn: works, but not well; fail: does not work */
        status: 'warn' | 'fail';
        /** Sentence on the finding */
        found: string;
        /** Next step; null without one */
        remedy: string | null;
        /** Command that helps; null without one */
        command: string | null;
      };
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'webhook.disabled';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: Webhook;
    }
  | {
      /** The `webhook-id` of its deliveries */
      id: string;
      /** Kind of the event */
      type: 'webhook.test';
      /** Time of the event, ISO 8601 in UTC */
      timestamp: string;
      /** Organization in which the event happened */
      organizationId: string;
      /** The resource as of the event */
      data: {
        [name: string]: unknown;
      };
    };
/** Names of the errors of the API. */
export type ApiErrorTag =
  | 'MalformedRequestError'
  | 'ValidationError'
  | 'ResourceNotFoundError'
  | 'UnauthorizedError'
  | 'PaymentRequiredError'
  | 'ForbiddenError'
  | 'FlagDisabledError'
  | 'ConflictError'
  | 'RateLimitedError'
  | 'ExternalServiceError'
  | 'BillingProviderError'
  | 'InternalError'
  | 'WebhookEnqueueError'
  | 'CapacityError'
  | 'TimeoutError';
/**
 * Returns the event of a post whose signature is valid. `body` is the body as it came.
 * @throws SvcError `WebhookVerificationError`
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers | Record<string, string | string[] | undefined>,
  secret: string | readonly string[],
  options?: { toleranceSeconds?: number; now?: number },
): Promise<Event>;
/** The client of the API. */
export class Svc {
  constructor(options: SvcOptions);
  readonly messages: {
    /** Send an email message. Accepts the message durably and returns it as `pending`; follow it by its events. Repeats with the same `Idempotency-Key` and content return the original message. Permission: `messages:send`. */
    send(body: SendPayload & { dryRun: true }, options?: KeyedOptions): Promise<DryRunResult>;
    /** Send an email message. Accepts the message durably and returns it as `pending`; follow it by its events. Repeats with the same `Idempotency-Key` and content return the original message. Permission: `messages:send`. */
    send(body: SendPayload & { dryRun?: false }, options?: KeyedOptions): Promise<Message>;
    /** Send an email message. Accepts the message durably and returns it as `pending`; follow it by its events. Repeats with the same `Idempotency-Key` and content return the original message. Permission: `messages:send`. */
    send(body: SendPayload, options?: KeyedOptions): Promise<Message | DryRunResult>;
    /** Send up to 100 messages. Answers with one result for each entry, in order: the `message`, or the `error` of this send as if it had been sent alone. Each entry is checked alone, its fields too; a refused entry does not stop the others. All accepted entries are stored at once. Counts as one request for each entry. A repeat with the same `Idempotency-Key` and content returns the same results; if no entry was accepted, the key is free again. Permission: `messages:send`. */
    sendBatch(body: Array<SendPayload>, options?: KeyedOptions): Promise<Array<BatchResult>>;
    /** Send an email message later. Accepts the message as `scheduled` and sends it at `scheduledFor`. It draws on the rate limit and the daily quota then, not now, and waits for them instead of failing: `scheduling` of its deliveries gives the reason (`waitReason`) and the time. Repeats with the same `idempotencyKey` and content return the original message. Permission: `messages:send`. */
    schedule(body: ScheduledPayload, options?: KeyedOptions): Promise<Message>;
    /** Send a message again. Sends the stored content to the same recipients as a new message, whose `resendOf` is the first one. All checks of a send apply. A message with deliveries in the queue is a conflict. Permission: `messages:send`. */
    resend(id: string, options?: KeyedOptions): Promise<Message>;
    /** Send captured mail to its recipients. Sends the copies that `delivery.mode`, `delivery.allow` or a route kept on this machine as a new message, whose `resendOf` is the first one. Leaves out recipients whose mail is still captured; if all are, it is a conflict. A copy is released once. Permission: `messages:send`. */
    release(id: string, options?: KeyedOptions): Promise<Message>;
    /** Cancel a message that has not been sent. Cancels scheduled and queued deliveries, and those that wait for another attempt: the message ends as `failed` with the error code `cancelled`. A message that was sent in part, or has an attempt in progress, is a conflict. Repeating the request changes nothing. For mail of a mailbox `mailboxes:send` is enough; within its `delaySeconds` the send is undone: what was a draft is that draft again, any other send or reply becomes a draft of the caller, and an approval ends as `failed` with the note `undone`. Permission: `messages:send`. */
    cancel(id: string, options?: KeyedOptions): Promise<Message>;
    /** List messages, newest first. Permission: `messages:read`. */
    list(
      query?: MessagesListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Message>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Wait for a mail to an address, and get it with text, codes and links. Answers with the newest sent, captured or received message that matches, once there is one. Answers 404 if none comes in time: ask again. The pattern is matched anywhere in the subject (RE2, which has no lookaround and no backreferences). Permission: `messages:read`. */
    expect(query: MessagesExpectQuery, options?: RequestOptions): Promise<ExpectedMessage>;
    /** Get a message with its recipients and deliveries. Permission: `messages:read`. */
    get(id: string, options?: RequestOptions): Promise<Message>;
    /** Delete a message for good; its unsent deliveries are cancelled. Permission: `messages:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** Get the email projection of a message. Permission: `messages:read`. */
    getEmail(
      id: string,
      query?: MessagesGetEmailQuery,
      options?: RequestOptions,
    ): Promise<EmailProjection>;
    /** Find the one-time codes and the links of a message. At most 10 codes of 4 to 8 digits, and at most 100 links, of the HTML if it has any, else of the text. Permission: `messages:read`. */
    getExtracts(id: string, options?: RequestOptions): Promise<MailExtracts>;
    /** Get the timeline of a message, oldest first. Permission: `messages:read`. */
    listEvents(id: string, options?: RequestOptions): Promise<Array<MessageEvent>>;
    /** Get the delivery status of each recipient. Permission: `messages:read`. */
    listDeliveries(id: string, options?: RequestOptions): Promise<Array<Delivery>>;
    /** Explain the state of a message and its next step. For each recipient the last event, the reason and end of its wait, the reply of the server, and the command that helps. The same as `svc messages explain MESSAGE --json`. Permission: `messages:read`. */
    explain(id: string, options?: RequestOptions): Promise<MessageExplanation>;
    /** Get a proof of delivery that can be checked without this service. The events of the message up to now, the answers of servers and the digest of the mail, with the path to a signed head. The keys are at `/.well-known/svc-receipts.json`. Permission: `messages:read`. */
    getReceipt(id: string, options?: RequestOptions): Promise<Receipt>;
    /** Reply to a message in its thread. Goes to its Reply-To, or else its sender; for a message of our own, to its recipients. The service sets recipients, subject and threading headers. Blocked and malformed addresses are left out, and listed in `skippedRecipients`; if no recipient is left, nothing is sent. A service key does not answer automatic answers (409). After five sends into a thread within an hour without a message from a person, its next send is a proposal. Permission: `mailboxes:send`. */
    reply(
      id: string,
      messageId: string,
      body: {
        /** Addresses for Cc */
        cc?: Array<string> | null;
        /** Addresses for Bcc, hidden from all recipients */
        bcc?: Array<string> | null;
        /** Plain text of the mail */
        text?: string | null;
        /** HTML of the mail */
        html?: string | null;
        /** Files to attach, 40 MB in all once encoded */
        attachments?: Array<{
          /** File name that the reader sees */
          filename: string;
          /** The file, base64 (RFC 4648 section 4) */
          content: string;
          /** Media type with parameters (RFC 2045 5.1); default: by the file name */
          contentType?: string;
          /** Id by which the HTML shows the file, as `cid:ID` */
          contentId?: string;
        }> | null;
        /** Seconds before the delivery is due, 0 by default. Until then `POST /v1/messages/{id}/cancel` undoes the send: the mail becomes a draft */
        delaySeconds?: number;
      },
      options?: KeyedOptions,
    ): Promise<ReplyResult>;
    /** Reply to everybody named in a message except this mailbox. Blocked and malformed addresses are left out, and listed in `skippedRecipients`; if no recipient is left, nothing is sent. A service key does not answer automatic answers (409). After five sends into a thread within an hour without a message from a person, its next send is a proposal. Permission: `mailboxes:send`. */
    replyToAll(
      id: string,
      messageId: string,
      body: {
        /** Addresses for Cc */
        cc?: Array<string> | null;
        /** Addresses for Bcc, hidden from all recipients */
        bcc?: Array<string> | null;
        /** Plain text of the mail */
        text?: string | null;
        /** HTML of the mail */
        html?: string | null;
        /** Files to attach, 40 MB in all once encoded */
        attachments?: Array<{
          /** File name that the reader sees */
          filename: string;
          /** The file, base64 (RFC 4648 section 4) */
          content: string;
          /** Media type with parameters (RFC 2045 5.1); default: by the file name */
          contentType?: string;
          /** Id by which the HTML shows the file, as `cid:ID` */
          contentId?: string;
        }> | null;
        /** Seconds before the delivery is due, 0 by default. Until then `POST /v1/messages/{id}/cancel` undoes the send: the mail becomes a draft */
        delaySeconds?: number;
      },
      options?: KeyedOptions,
    ): Promise<ReplyResult>;
    /** Forward a message, quoted and with its attachments. Blocked and malformed addresses are left out, and listed in `skippedRecipients`; if no recipient is left, nothing is sent. A service key does not answer automatic answers (409). After five sends into a thread within an hour without a message from a person, its next send is a proposal. Permission: `mailboxes:send`. */
    forward(
      id: string,
      messageId: string,
      body: {
        /** Addresses for To */
        to: Array<string>;
        /** Addresses for Cc */
        cc?: Array<string> | null;
        /** Addresses for Bcc, hidden from all recipients */
        bcc?: Array<string> | null;
        /** Plain text of the mail */
        text?: string | null;
        /** HTML of the mail */
        html?: string | null;
        /** Files to attach, 40 MB in all once encoded */
        attachments?: Array<{
          /** File name that the reader sees */
          filename: string;
          /** The file, base64 (RFC 4648 section 4) */
          content: string;
          /** Media type with parameters (RFC 2045 5.1); default: by the file name */
          contentType?: string;
          /** Id by which the HTML shows the file, as `cid:ID` */
          contentId?: string;
        }> | null;
        /** Seconds before the delivery is due, 0 by default. Until then `POST /v1/messages/{id}/cancel` undoes the send: the mail becomes a draft */
        delaySeconds?: number;
      },
      options?: KeyedOptions,
    ): Promise<ReplyResult>;
  };
  readonly mailboxes: {
    /** List mailboxes, newest first. Permission: `mailboxes:read`. */
    list(
      query?: MailboxesListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Mailbox>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Create a mailbox. Its address is on a verified domain of the organization, or on the hosted domain of the service; no mailbox of any organization can share it. Mail to `name+anything@` reaches it too. Permission: `mailboxes:configure`. */
    create(
      body: {
        /** Slug of the mailbox: lower-case letters, digits and hyphens */
        slug: string;
        /** Verified domain; the address is `slug@domain` */
        domain?: string;
        /** Address, if it is not `slug` at `domain` or at the hosted domain */
        address?: string;
        /** Display name of the address */
        displayName?: string | null;
        /** Description of the mailbox */
        description?: string | null;
        /** Texts of your own by name, at most 50 */
        metadata?: unknown;
        /** Namespace of the mailbox */
        namespaceId?: string | null;
        /** Addresses and domains, a domain also for its subdomains: `block` lists unwanted senders; if `allow` has an entry, only its senders are wanted. Mail from all others goes to `spam`. Replaced whole */
        filters?: {
          /** Wanted addresses and domains; empty: all senders are wanted */
          allow?: Array<string>;
          /** Unwanted addresses and domains */
          block?: Array<string>;
        } | null;
      },
      options?: KeyedOptions,
    ): Promise<Mailbox>;
    /** Show a mailbox. Permission: `mailboxes:read`. */
    get(id: string, options?: RequestOptions): Promise<Mailbox>;
    /** Change a mailbox. `displayName`, `defaultFrom` and `filters` need the permission `mailboxes:configure`. Permission: `mailboxes:write`. */
    update(
      id: string,
      body: {
        /** Display name of the address */
        displayName?: string | null;
        /** Description of the mailbox */
        description?: string | null;
        /** Texts of your own by name, at most 50; an update replaces them whole */
        metadata?: unknown;
        /** Addresses and domains, a domain also for its subdomains: `block` lists unwanted senders; if `allow` has an entry, only its senders are wanted. Mail from all others goes to `spam`. Replaced whole */
        filters?: {
          /** Wanted addresses and domains; empty: all senders are wanted */
          allow?: Array<string>;
          /** Unwanted addresses and domains */
          block?: Array<string>;
        };
        /** One of its addresses, or a verified sender; null: its primary address */
        defaultFrom?: {
          /** Address for the From of mail from this mailbox */
          address: string;
          /** Display name of the address */
          displayName?: string | null;
        } | null;
      },
      options?: RequestOptions,
    ): Promise<Mailbox>;
    /** Delete a mailbox. Its addresses are free at once; mail to them is refused. Permission: `mailboxes:configure`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** Pause a mailbox. Incoming mail is deferred (450), and the mailbox sends nothing, until it is resumed. Permission: `mailboxes:configure`. */
    pause(id: string, options?: KeyedOptions): Promise<Mailbox>;
    /** Resume a mailbox: it sends and receives again. Permission: `mailboxes:configure`. */
    resume(id: string, options?: KeyedOptions): Promise<Mailbox>;
    /** Add an address to a mailbox. Permission: `mailboxes:configure`. */
    addAddress(
      id: string,
      body: {
        /** Address on a verified domain, or on the hosted one */
        address: string;
        /** Display name of the address */
        displayName?: string | null;
      },
      options?: KeyedOptions,
    ): Promise<Mailbox>;
    /** Remove an address from a mailbox. The next oldest address replaces a primary one; the last address stays. Permission: `mailboxes:configure`. */
    removeAddress(id: string, addressId: string, options?: RequestOptions): Promise<Mailbox>;
    /** List the events of a mailbox. Permission: `mailboxes:read`. */
    listEvents(
      id: string,
      query?: MailboxesListEventsQuery,
      options?: RequestOptions,
    ): List<{
      /** Events of this page */
      items: Array<Event>;
      /** Null on the last page; a page before may be short, or empty */
      nextCursor: string | null;
    }>;
    /** Send a message from a mailbox and begin a thread. Blocked and malformed addresses are left out, and listed in `skippedRecipients`; if no recipient is left, nothing is sent. A service key does not answer automatic answers (409). After five sends into a thread within an hour without a message from a person, its next send is a proposal. Permission: `mailboxes:send`. */
    send(
      id: string,
      body: {
        /** Addresses for To */
        to: Array<string>;
        /** Addresses for Cc */
        cc?: Array<string> | null;
        /** Addresses for Bcc, hidden from all recipients */
        bcc?: Array<string> | null;
        /** Subject line */
        subject: string;
        /** Plain text of the mail */
        text?: string | null;
        /** HTML of the mail */
        html?: string | null;
        /** Files to attach, 40 MB in all once encoded */
        attachments?: Array<{
          /** File name that the reader sees */
          filename: string;
          /** The file, base64 (RFC 4648 section 4) */
          content: string;
          /** Media type with parameters (RFC 2045 5.1); default: by the file name */
          contentType?: string;
          /** Id by which the HTML shows the file, as `cid:ID` */
          contentId?: string;
        }> | null;
        /** Seconds before the delivery is due, 0 by default. Until then `POST /v1/messages/{id}/cancel` undoes the send: the mail becomes a draft */
        delaySeconds?: number;
      },
      options?: KeyedOptions,
    ): Promise<ReplyResult>;
    /** Approve a proposal: send it. Only a person can approve, and once. Every check of a send is made again, as of now: a temporary refusal (402, a paused mailbox) leaves the proposal as it was, any other ends it as `failed`. Permission: `mailboxes:send`. */
    approveAction(
      id: string,
      actionId: string,
      body?: {
        /** Note on the decision, for the key that proposed it */
        note?: string | null;
        /** Seconds before the delivery is due, 0 by default. Until then `POST /v1/messages/{id}/cancel` undoes the send: the mail becomes a draft */
        delaySeconds?: number;
        /** Fields to send in place of the proposed ones */
        edits?: {
          /** Addresses for To */
          to?: Array<string> | null;
          /** Addresses for Cc */
          cc?: Array<string> | null;
          /** Addresses for Bcc, hidden from all recipients */
          bcc?: Array<string> | null;
          /** Subject line */
          subject?: string | null;
          /** Plain text of the mail */
          text?: string | null;
          /** HTML of the mail */
          html?: string | null;
          /** Files to attach, 40 MB in all once encoded */
          attachments?: Array<{
            /** File name that the reader sees */
            filename: string;
            /** The file, base64 (RFC 4648 section 4) */
            content: string;
            /** Media type with parameters (RFC 2045 5.1); default: by the file name */
            contentType?: string;
            /** Id by which the HTML shows the file, as `cid:ID` */
            contentId?: string;
          }> | null;
        } | null;
      },
      options?: KeyedOptions,
    ): Promise<MailboxAction>;
    /** Count the actions of keys and the events of a mailbox. Permission: `mailboxes:read`. */
    getActivity(
      id: string,
      query?: MailboxesGetActivityQuery,
      options?: RequestOptions,
    ): Promise<MailboxActivity>;
    /** List the actions of keys in a mailbox, newest first. Permission: `mailboxes:read`. */
    listActions(
      id: string,
      query?: MailboxesListActionsQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<MailboxAction>;
      /** Value of `cursor` for the next page; null on the last page */
      nextCursor: string | null;
    }>;
    /** Show an action, with the whole mail of a proposal. Permission: `mailboxes:read`. */
    getAction(id: string, actionId: string, options?: RequestOptions): Promise<ShownMailboxAction>;
    /** Reject a proposal. Only a person can reject, and once; the note tells the key the reason. Permission: `mailboxes:write`. */
    rejectAction(
      id: string,
      actionId: string,
      body?: {
        /** Note on the decision, for the key that proposed it */
        note?: string | null;
      },
      options?: KeyedOptions,
    ): Promise<MailboxAction>;
    /** Download an attachment of a message in a mailbox. Takes its number in the messages of the thread. Answers with its type, size and name; a type that a browser would run as a page is `application/octet-stream`. Permission: `mailboxes:read`. */
    getAttachment(
      id: string,
      messageId: string,
      n: string,
      options?: RequestOptions,
    ): Promise<Response>;
    /** Find the one-time codes and the links of a message in a mailbox. Found as by `svc messages expect`: at most 10 codes of 4 to 8 digits, and at most 100 links, of the HTML if it has any, else of the text. Permission: `mailboxes:read`. */
    getExtracts(id: string, messageId: string, options?: RequestOptions): Promise<MailExtracts>;
    /** Follows the events; continues after a cut. */
    streamEvents(
      id: string,
      options?: StreamOptions<MailboxesStreamEventsQuery>,
    ): AsyncIterable<Event>;
  };
  readonly drafts: {
    /** List the drafts of a mailbox, newest first. Permission: `mailboxes:read`. */
    list(
      id: string,
      query?: DraftsListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Draft>;
      /** Value of `cursor` for the next page; null on the last page */
      nextCursor: string | null;
    }>;
    /** Create a draft. With `inReplyToMessageId` the draft answers that message in its thread; without it, it begins a thread. Permission: `mailboxes:write`. */
    create(
      id: string,
      body: {
        /** Addresses for To */
        to?: Array<string> | null;
        /** Addresses for Cc */
        cc?: Array<string> | null;
        /** Addresses for Bcc, hidden from all recipients */
        bcc?: Array<string> | null;
        /** Subject line */
        subject?: string | null;
        /** Plain text of the mail */
        text?: string | null;
        /** HTML of the mail */
        html?: string | null;
        /** Files to attach, 40 MB in all once encoded */
        attachments?: Array<{
          /** File name that the reader sees */
          filename: string;
          /** The file, base64 (RFC 4648 section 4) */
          content: string;
          /** Media type with parameters (RFC 2045 5.1); default: by the file name */
          contentType?: string;
          /** Id by which the HTML shows the file, as `cid:ID` */
          contentId?: string;
        }> | null;
        /** Message to answer: recipients and subject follow from it if they are left out */
        inReplyToMessageId?: string | null;
      },
      options?: KeyedOptions,
    ): Promise<ShownDraft>;
    /** Show a draft. Permission: `mailboxes:read`. */
    get(id: string, draftId: string, options?: RequestOptions): Promise<ShownDraft>;
    /** Change a draft. Permission: `mailboxes:write`. */
    update(
      id: string,
      draftId: string,
      body: {
        /** Addresses for To */
        to?: Array<string> | null;
        /** Addresses for Cc */
        cc?: Array<string> | null;
        /** Addresses for Bcc, hidden from all recipients */
        bcc?: Array<string> | null;
        /** Subject line */
        subject?: string | null;
        /** Plain text of the mail */
        text?: string | null;
        /** HTML of the mail */
        html?: string | null;
        /** Files to attach, 40 MB in all once encoded */
        attachments?: Array<{
          /** File name that the reader sees */
          filename: string;
          /** The file, base64 (RFC 4648 section 4) */
          content: string;
          /** Media type with parameters (RFC 2045 5.1); default: by the file name */
          contentType?: string;
          /** Id by which the HTML shows the file, as `cid:ID` */
          contentId?: string;
        }> | null;
        /** `updatedAt` of the draft that was read; the answer is 409 if the draft has changed since */
        expectedUpdatedAt?: string;
      },
      options?: RequestOptions,
    ): Promise<ShownDraft>;
    /** Delete a draft. Permission: `mailboxes:delete`. */
    delete(
      id: string,
      draftId: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** Send a draft. Blocked and malformed addresses are left out, and listed in `skippedRecipients`; if no recipient is left, nothing is sent. A service key does not answer automatic answers (409). After five sends into a thread within an hour without a message from a person, its next send is a proposal. Permission: `mailboxes:send`. */
    send(
      id: string,
      draftId: string,
      body?: {
        /** `updatedAt` of the draft that was read; the answer is 409 if the draft has changed since */
        expectedUpdatedAt?: string;
        /** Seconds before the delivery is due, 0 by default. Until then `POST /v1/messages/{id}/cancel` undoes the send: the mail becomes a draft */
        delaySeconds?: number;
        /** `digest` of the draft that was read; the answer is 409 if another mail would leave now: also From and Reply-To, which its mailbox and sender give */
        expectedDigest?: string;
      },
      options?: KeyedOptions,
    ): Promise<ReplyResult>;
  };
  readonly mailboxActions: {
    /** List the actions of keys in all mailboxes, newest first. A key bound to mailboxes sees the actions in its own. `state=proposed` lists the proposals that wait for a decision. Permission: `mailboxes:read`. */
    listAll(
      query?: MailboxActionsListAllQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<MailboxAction>;
      /** Value of `cursor` for the next page; null on the last page */
      nextCursor: string | null;
    }>;
  };
  readonly actions: {
    /** Download the mail of a proposal as it would be sent. Answers with the MIME whose SHA-256 is the `digest`. It is sent byte for byte, but without Bcc, and after Date, Message-ID, DKIM-Signature and X-Service-Token. 404 once the proposal is decided. Permission: `mailboxes:read`. */
    getProposedMail(id: string, actionId: string, options?: RequestOptions): Promise<Response>;
  };
  readonly attachments: {
    /** Download an attachment of a proposal by its number. The numbers are in `content` of the action. 404 once it is decided. Permission: `mailboxes:read`. */
    getProposed(
      id: string,
      actionId: string,
      n: string,
      options?: RequestOptions,
    ): Promise<Response>;
  };
  readonly mailboxNamespaces: {
    /** List the namespaces of mailboxes, newest first. Permission: `mailboxes:read`. */
    list(
      query?: MailboxNamespacesListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<MailboxNamespace>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Create a namespace of mailboxes. Permission: `mailboxes:write`. */
    create(
      body: {
        /** Name of the namespace */
        name: string;
      },
      options?: KeyedOptions,
    ): Promise<MailboxNamespace>;
  };
  readonly threads: {
    /** List the threads of a mailbox, latest activity first. Without `folder` it lists all folders except `spam` and `trash`. A thread with new activity moves ahead of the cursor, so that a walk lists each thread at most once. Permission: `mailboxes:read`. */
    list(
      id: string,
      query?: ThreadsListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Thread>;
      /** Value of `cursor` for the next page; null on the last page */
      nextCursor: string | null;
    }>;
    /** Show a thread. Permission: `mailboxes:read`. */
    get(id: string, threadId: string, options?: RequestOptions): Promise<Thread>;
    /** Move a thread, mark it, or snooze it. Permission: `mailboxes:write`. */
    update(
      id: string,
      threadId: string,
      body: {
        /** Mark it as read, or as unread */
        read?: boolean;
        /** Star it, or remove the star */
        starred?: boolean;
        /** Folder to move it to */
        folder?: 'inbox' | 'sent' | 'archive' | 'spam' | 'trash' | 'drafts';
        /** Importance of the thread */
        priority?: 'high' | 'normal' | 'low';
        /** End of the snooze: the thread returns to `inbox` unread; null ends it now */
        snoozedUntil?: unknown;
      },
      options?: RequestOptions,
    ): Promise<Thread>;
    /** Move a thread to trash; delete it for good from there. Permission: `mailboxes:delete`. */
    delete(
      id: string,
      threadId: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** List the messages of a thread, oldest first. Permission: `mailboxes:read`. */
    listMessages(
      id: string,
      threadId: string,
      query?: ThreadsListMessagesQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<ThreadMessage>;
      /** Value of `cursor` for the next page; null on the last page */
      nextCursor: string | null;
    }>;
    /** Add labels to a thread. At most 50. A label keeps its letter case, and is compared without it. Permission: `mailboxes:write`. */
    addLabels(
      id: string,
      threadId: string,
      body: {
        /** Labels to add or to remove */
        labels: Array<string>;
      },
      options?: KeyedOptions,
    ): Promise<ThreadStanding>;
    /** Remove labels from a thread; missing ones are ignored. Permission: `mailboxes:write`. */
    removeLabels(
      id: string,
      threadId: string,
      body: {
        /** Labels to add or to remove */
        labels: Array<string>;
      },
      options?: RequestOptions,
    ): Promise<ThreadStanding>;
    /** List the notes on a thread, oldest first. Permission: `mailboxes:read`. */
    listNotes(
      id: string,
      threadId: string,
      query?: ThreadsListNotesQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<ThreadNote>;
      /** Value of `cursor` for the next page; null on the last page */
      nextCursor: string | null;
    }>;
    /** Write a note on a thread; notes are never mailed. Permission: `mailboxes:write`. */
    createNote(
      id: string,
      threadId: string,
      body: {
        /** Text of the note */
        body: string;
        /** Colour */
        color?: 'yellow' | 'green' | 'blue' | 'purple' | 'pink' | 'red' | 'orange' | 'gray' | null;
        /** Show it above the others */
        pinned?: boolean;
      },
      options?: KeyedOptions,
    ): Promise<ThreadNote>;
    /** Change a note. Permission: `mailboxes:write`. */
    updateNote(
      id: string,
      threadId: string,
      noteId: string,
      body: {
        /** Text of the note */
        body?: string;
        /** Colour */
        color?: 'yellow' | 'green' | 'blue' | 'purple' | 'pink' | 'red' | 'orange' | 'gray' | null;
        /** Show it above the others */
        pinned?: boolean;
      },
      options?: RequestOptions,
    ): Promise<ThreadNote>;
    /** Delete a note. Permission: `mailboxes:delete`. */
    deleteNote(
      id: string,
      threadId: string,
      noteId: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
  };
  readonly savedReplies: {
    /** List saved replies, newest first. Permission: `mailboxes:read`. */
    list(
      query?: SavedRepliesListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<SavedReply>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Create a saved reply. Permission: `mailboxes:write`. */
    create(
      body: {
        /** Name to choose it by */
        name: string;
        /** Plain text of the answer */
        text: string;
        /** HTML of the answer */
        html?: string | null;
      },
      options?: KeyedOptions,
    ): Promise<SavedReply>;
    /** Show a saved reply. Permission: `mailboxes:read`. */
    get(id: string, options?: RequestOptions): Promise<SavedReply>;
    /** Change a saved reply. Permission: `mailboxes:write`. */
    update(
      id: string,
      body: {
        /** Name to choose it by */
        name?: string;
        /** Plain text of the answer */
        text?: string;
        /** HTML of the answer */
        html?: string | null;
      },
      options?: RequestOptions,
    ): Promise<SavedReply>;
    /** Delete a saved reply. Permission: `mailboxes:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
  };
  readonly domains: {
    /** List sending domains, newest first. Permission: `domains:read`. */
    list(
      query?: DomainsListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Domain>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Add a sending domain. Creates its DKIM keys. Publish the required `dnsRecords`, then verify the domain; it is also checked by schedule, soon at first. Permission: `domains:write`. */
    add(
      body: {
        /** Such as example.com; stored in A-labels, lower case */
        domain: string;
        /** Keys to create (every receiver checks RSA-2048) */
        dkim?: 'both' | 'rsa' | 'ed25519';
        /** Label of the host to which bounces come back, below the domain */
        returnPath?: string;
      },
      options?: KeyedOptions,
    ): Promise<Domain>;
    /** Show a sending domain. Permission: `domains:read`. */
    get(id: string, options?: RequestOptions): Promise<Domain>;
    /** Delete a sending domain. Its keys are destroyed, and its senders can no longer send. Queued mail still leaves, without a signature. Permission: `domains:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** Check the DNS records of a domain now. Answers with the domain after the check, whether or not it is verified. `temporary-failure` means that DNS did not answer. Permission: `domains:write`. */
    verify(id: string, options?: KeyedOptions): Promise<Domain>;
    /** List the DNS records of a domain, as last checked. Permission: `domains:read`. */
    listDnsRecords(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** DNS records of the domain */
      items: Array<DnsRecord>;
    }>;
    /** Show the registrar of a domain, and where its records are edited. RDAP names the registrar. The name servers name the DNS host, with a link to its page of records. Permission: `domains:read`. */
    getRegistrar(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** Domain name in A-labels */
      domain: string;
      /** Null if RDAP does not name it */
      registrar: {
        /** Name of the registrar */
        name: string;
        /** Number of the registrar at IANA; null if unknown */
        ianaId: string | null;
        /** Page of the registrar; null if unknown */
        url: string | null;
      } | null;
      /** Null if DNS names no name server */
      dnsHost: {
        /** Null for name servers that we do not know */
        name: string | null;
        /** Host names of the name servers */
        nameServers: Array<string>;
        /** Page that edits the records */
        recordsUrl: string | null;
      } | null;
      /** Source of the answer; none: nothing was found */
      source: 'rdap' | 'name-servers' | 'none';
      /** Time of the look-up */
      checkedAt: string;
    }>;
    /** Create new DKIM keys for a domain. The new keys are used once a check finds them in DNS; until then the old ones sign. The old records stay in `dnsRecords` for 7 days after that, with `keepUntil`. Permission: `domains:write`. */
    rotateDkim(
      id: string,
      body?: {
        /** Name of the key in DNS: its record stands at SELECTOR._domainkey */
        selector?: string;
      },
      options?: KeyedOptions,
    ): Promise<Domain>;
    /** Import a DKIM key for a domain. The key is used once a check finds its record in DNS. Permission: `domains:write`. */
    importDkim(
      id: string,
      body: {
        /** Name of the key in DNS: its record stands at SELECTOR._domainkey */
        selector: string;
        /** RSA of 1024 to 4096 bits or Ed25519, in PEM; it is never shown again */
        privateKey: string;
      },
      options?: KeyedOptions,
    ): Promise<Domain>;
    /** List the DMARC reports on a domain, newest first. Each report shows mail in the name of the domain (RFC 7489), as a receiver counted it and sent it to the `rua` address of its DMARC record. Stored for 90 days. Permission: `domains:read`. */
    listDmarcReports(
      id: string,
      query?: DomainsListDmarcReportsQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<DmarcReport>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
      /** Sums of all pages by day, oldest first; days without a report are left out */
      daily: Array<{
        /** YYYY-MM-DD, UTC */
        day: string;
        /** Number of reported messages */
        messages: number;
        /** Number of messages that passed DMARC */
        passed: number;
        /** Number of messages that failed DMARC */
        failed: number;
      }>;
    }>;
    /** Enable a tracking host on a verified domain. Publish `dnsRecords.tracking` (and `dcvDelegation` if it is required); the host is checked at once and then by schedule. Links use it while its status is `active`. Permission: `tracking:write`. */
    enableCustomTracking(
      id: string,
      body: {
        /** Label before the domain: `links` gives links.example.com */
        label: string;
      },
      options?: KeyedOptions,
    ): Promise<CustomTracking>;
    /** Show the tracking host of a domain. Permission: `tracking:read`. */
    getCustomTracking(id: string, options?: RequestOptions): Promise<CustomTracking>;
    /** Disable the tracking host of a domain. New mail has other links at once. Links in sent mail keep working for a week, until `teardownScheduledAt`. Permission: `tracking:write`. */
    disableCustomTracking(id: string, options?: KeyedOptions): Promise<CustomTracking>;
    /** Check the tracking host of a domain now. Checks a host at most once in 30 seconds: in between, the answer is the state of the last check. 409 if it is disabled or being torn down. Permission: `tracking:write`. */
    recheckCustomTracking(id: string, options?: KeyedOptions): Promise<CustomTracking>;
    /** Start warming a domain. The first window of 24 hours opens at once. After each safe window the next one opens, with an allowance that is `dailyGrowthPercent` larger, up to the target. Direct sends count in the window; with `direct: defer` those above its allowance wait in the queue (`waitReason: rate`) until the next one opens, at most until their age limit. Permission: `domains:write`. */
    startWarming(
      id: string,
      body: {
        /** History of the domain at receivers; recorded, it changes no number */
        identity: 'new' | 'migrating' | 'returning';
        /** Allowance of the first window */
        initialDailyRecipients: number;
        /** Growth after a safe window, in percent */
        dailyGrowthPercent: number;
        /** Allowance of the window that completes the plan if it is safe */
        targetDailyRecipients: number;
        /** Direct sends above the allowance of the open window: `count` lets them go, `defer` lets them wait for a later window */
        direct?: 'count' | 'defer';
      },
      options?: KeyedOptions,
    ): Promise<Warming>;
    /** Show the warming plan of a domain, its windows and results. If the domain had several plans, shows the current one, or else the newest. Permission: `domains:read`. */
    getWarming(id: string, options?: RequestOptions): Promise<Warming>;
    /** Pause the warming of a domain. The open window runs to its end; no other opens until the plan is resumed. Permission: `domains:write`. */
    pauseWarming(
      id: string,
      body?: {
        /** Reason, shown in the decision */
        note?: string;
      },
      options?: KeyedOptions,
    ): Promise<Warming>;
    /** Resume the paused or held warming of a domain. A held plan repeats the unsafe window: earlier bounces and complaints no longer count. That needs a `note`. Permission: `domains:write`. */
    resumeWarming(
      id: string,
      body?: {
        /** Findings of the review, shown in the decision; a held plan needs them */
        note?: string;
      },
      options?: KeyedOptions,
    ): Promise<Warming>;
    /** Cancel the warming of a domain. The plan and its windows end for good; another plan can be started. Permission: `domains:write`. */
    cancelWarming(
      id: string,
      body?: {
        /** Reason, shown in the decision */
        note?: string;
      },
      options?: KeyedOptions,
    ): Promise<Warming>;
    /** Show the mail of a range by recipient domain. Permission: `analytics:read`. */
    getStats(query?: DomainsGetStatsQuery, options?: RequestOptions): Promise<DomainStats>;
  };
  readonly catchAll: {
    /** Deliver mail for unknown addresses of a domain to a mailbox. Permission: `mailboxes:configure`. */
    enable(
      body: {
        /** Verified domain whose unknown addresses get mail */
        domainId: string;
        /** Mailbox that gets this mail */
        mailboxId: string;
      },
      options?: KeyedOptions,
    ): Promise<{
      /** True: the change is done */
      success: boolean;
    }>;
    /** Disable the catch-all of a domain. Succeeds also without a catch-all. Permission: `mailboxes:configure`. */
    disable(
      body: {
        /** Domain whose unknown addresses get no more mail */
        domainId: string;
      },
      options?: KeyedOptions,
    ): Promise<{
      /** True: the change is done */
      success: boolean;
    }>;
  };
  readonly senders: {
    /** List sender identities, newest first. Permission: `senders:read`. */
    list(
      query?: SendersListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Sender>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Create a sender identity. Verified at once if its domain is a verified domain. Otherwise it is pending, and its address is mailed a token. That mail is a send of the key: it draws on the rate and the quota, and a key that may not send it is refused. An organization has at most 20 pending proofs: then 409. Permission: `senders:write`. */
    create(
      body: {
        /** Address of the sender */
        email: string;
        /** Display name of the sender */
        name?: string | null;
        /** Make it the default sender: the From of mail without one (default: the first) */
        isDefault?: boolean;
        /** Addresses for answers: the Reply-To of mail without its own */
        replyToEmails?: Array<string> | null;
      },
      options?: KeyedOptions,
    ): Promise<Sender>;
    /** Show a sender identity. Permission: `senders:read`. */
    get(id: string, options?: RequestOptions): Promise<Sender>;
    /** Change a sender identity. Permission: `senders:write`. */
    update(
      id: string,
      body: {
        /** Display name of the sender */
        name?: string | null;
        /** Make it the default sender */
        isDefault?: boolean;
        /** Addresses for answers: the Reply-To of mail without its own */
        replyToEmails?: Array<string> | null;
        /** Allow it to send, or not */
        isActive?: boolean;
      },
      options?: RequestOptions,
    ): Promise<Sender>;
    /** Delete a sender identity. Permission: `senders:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** Verify a sender by the token that was mailed to it. Permission: `senders:write`. */
    verify(
      id: string,
      body: {
        /** The token that was mailed to the address */
        token: string;
      },
      options?: KeyedOptions,
    ): Promise<Sender>;
    /** Mail a new token to the address of a sender. The earlier token is void. The mail is a send of the key: it draws on the rate and the quota, and is refused where the key may not send. An address gets five such mails a day: then 429 with `Retry-After`. An organization has at most 20 pending proofs: then 409. Permission: `senders:write`. */
    resend(id: string, options?: KeyedOptions): Promise<Sender>;
  };
  readonly blocks: {
    /** List blocked addresses, newest first. Permission: `blocks:read`. */
    list(
      query?: BlocksListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Block>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Block an address. A send to a blocked address is still accepted; its delivery is `failed` at once with the errorCode `suppressed`. Blocking an address again gets a 409 that names the block. Permission: `blocks:write`. */
    create(
      body: {
        /** Address to block */
        address: string;
        /** Reason of the block */
        reason?: 'bounce' | 'complaint' | 'unsubscribe' | 'manual';
      },
      options?: KeyedOptions,
    ): Promise<Block>;
    /** Show a block. Permission: `blocks:read`. */
    get(id: string, options?: RequestOptions): Promise<Block>;
    /** Lift a block: the address gets mail again. Permission: `blocks:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
  };
  readonly unsubscribeGroups: {
    /** List unsubscribe groups, newest first. Permission: `contacts:read`. */
    list(
      query?: UnsubscribeGroupsListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<UnsubscribeGroup>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Create an unsubscribe group. A message with its id as `email.unsubscribeGroupId` goes alone to each recipient, with links to leave. Permission: `contacts:write`. */
    create(
      body: {
        /** Name that recipients read on the unsubscribe page */
        name: string;
        /** Kind of mail, for recipients */
        description?: string | null;
        /** List it on the unsubscribe page of every recipient (default: no) */
        public?: boolean;
        /** Ask each added contact by mail to confirm: double opt-in (default: no) */
        confirm?: boolean;
      },
      options?: KeyedOptions,
    ): Promise<UnsubscribeGroup>;
    /** Show an unsubscribe group. Permission: `contacts:read`. */
    get(id: string, options?: RequestOptions): Promise<UnsubscribeGroup>;
    /** Change an unsubscribe group. Permission: `contacts:write`. */
    update(
      id: string,
      body: {
        /** Name that recipients read on the unsubscribe page */
        name?: string;
        /** Kind of mail, for recipients */
        description?: string | null;
        /** List it on the unsubscribe page of every recipient (default: no) */
        public?: boolean;
        /** Ask each added contact by mail to confirm: double opt-in (default: no) */
        confirm?: boolean;
      },
      options?: RequestOptions,
    ): Promise<UnsubscribeGroup>;
    /** Delete an unsubscribe group; its blocks stay. Permission: `contacts:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** List the members of a double opt-in group, newest contact first. Permission: `contacts:read`. */
    listMembers(
      id: string,
      query?: UnsubscribeGroupsListMembersQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<UnsubscribeGroupMember>;
      /** Value of `cursor` for the next page; null on the last page */
      nextCursor: string | null;
    }>;
    /** Ask contacts to confirm that they want the mail of a group. For groups with `confirm`. Each contact is `pending` and gets a mail with a link, at most one an hour and three in all; the link works for 7 days. The mails draw on the rate and the quota and wait for them; a key that may not send is refused. A confirmed contact stays so. An earlier unsubscribe stays in force until the person confirms. If one contact does not exist or has no address, none is added. Permission: `contacts:write`. */
    addMembers(
      id: string,
      body: {
        /** Ids of contacts, at most 1,000 */
        contactIds: Array<string>;
      },
      options?: KeyedOptions,
    ): Promise<{
      /** Contacts of the request */
      items: Array<AddedUnsubscribeGroupMember>;
    }>;
    /** Remove members from a double opt-in group; others are ignored. They get no campaign of the group until they confirm again. Permission: `contacts:write`. */
    removeMembers(
      id: string,
      body: {
        /** Ids of contacts, at most 1,000 */
        contactIds: Array<string>;
      },
      options?: RequestOptions,
    ): Promise<{
      /** Contacts that were members */
      removed: number;
    }>;
  };
  readonly brands: {
    /** List brands, newest first. Permission: `brands:read`. */
    list(
      query?: BrandsListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Brand>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Create a brand. The first brand of an organization is its default. Permission: `brands:write`. */
    create(
      body: {
        /** Slug by which templates name the brand */
        slug: string;
        /** Name of the brand, for recipients */
        name: string;
        /** CSS for templates: inlined when a template is published */
        css?: string | null;
        /** Pictures of the brand */
        assets?: {
          /** URL of the logo (https) */
          logoUrl?: string | null;
          /** URL of the logo on dark ground (https) */
          logoDarkUrl?: string | null;
          /** URL of the icon (https) */
          iconUrl?: string | null;
        };
        /** Footer of mail */
        footer?: {
          /** Name of the company */
          companyName?: string | null;
          /** Postal address */
          address?: {
            /** Street and number */
            street1?: string | null;
            /** Second line of the street */
            street2?: string | null;
            /** Town of the address */
            city?: string | null;
            /** State or province */
            region?: string | null;
            /** Code of the town, such as 75001 */
            postalCode?: string | null;
            /** Country of the address */
            country?: string | null;
          } | null;
          /** Links to pages of the company */
          socialLinks?: Array<{
            /** Text of the link */
            label: string;
            /** URL of the page (https) */
            url: string;
          }>;
        };
      },
      options?: KeyedOptions,
    ): Promise<Brand>;
    /** Show a brand. Permission: `brands:read`. */
    get(slug: string, options?: RequestOptions): Promise<Brand>;
    /** Change a brand. Fields that are not given stay as they are, in `assets`, `footer` and its `address` too. New CSS takes effect when a template is published again; all else at the next send. Permission: `brands:write`. */
    update(
      slug: string,
      body: {
        /** Name of the brand, for recipients */
        name?: string;
        /** CSS for templates: inlined when a template is published */
        css?: string | null;
        /** Pictures of the brand; fields that are left out stay */
        assets?: {
          /** URL of the logo (https) */
          logoUrl?: string | null;
          /** URL of the logo on dark ground (https) */
          logoDarkUrl?: string | null;
          /** URL of the icon (https) */
          iconUrl?: string | null;
        };
        /** Footer of mail; fields that are left out stay */
        footer?: {
          /** Name of the company */
          companyName?: string | null;
          /** Postal address */
          address?: {
            /** Street and number */
            street1?: string | null;
            /** Second line of the street */
            street2?: string | null;
            /** Town of the address */
            city?: string | null;
            /** State or province */
            region?: string | null;
            /** Code of the town, such as 75001 */
            postalCode?: string | null;
            /** Country of the address */
            country?: string | null;
          } | null;
          /** Links to pages of the company */
          socialLinks?: Array<{
            /** Text of the link */
            label: string;
            /** URL of the page (https) */
            url: string;
          }>;
        };
      },
      options?: RequestOptions,
    ): Promise<Brand>;
    /** Make a brand the default. The default brand is the look of templates that name none, and of the unsubscribe page. Permission: `brands:write`. */
    makeDefault(slug: string, options?: KeyedOptions): Promise<Brand>;
    /** Delete a brand. No other brand becomes the default. Templates that name it have no brand then. Permission: `brands:delete`. */
    delete(
      slug: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
  };
  readonly templates: {
    /** List templates, newest first. Permission: `templates:read`. */
    list(
      query?: TemplatesListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Template>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Create a template. The given content, or all files, are the first commit of its workspace. It is a draft until it is published. Permission: `templates:write`. */
    create(
      body: {
        /** Name of the template (default: its slug) */
        name?: string;
        /** Slug in sends, unique in the organization */
        slug: string;
        /** Always `email` */
        channel?: 'email';
        /** Purpose of the template */
        description?: string | null;
        /** Subject, with Liquid */
        subject?: string;
        /** Text after the subject in lists of mail, with Liquid */
        preheader?: string;
        /** HTML, with Liquid */
        html?: string;
        /** MJML instead of HTML, with Liquid */
        mjml?: string;
        /** Plain text, with Liquid (default: a text made from the HTML) */
        text?: string;
        /** Slug of its brand (default: the default brand of the organization) */
        brand?: string;
        /** All files of the template by path, instead of subject and content */
        files?: {
          [name: string]: string;
        };
      },
      options?: KeyedOptions,
    ): Promise<Template>;
    /** Show a template. Permission: `templates:read`. */
    get(id: string, options?: RequestOptions): Promise<Template>;
    /** Change a template. Its content changes in its workspace. Permission: `templates:write`. */
    update(
      id: string,
      body: {
        /** Name of the template */
        name?: string;
        /** Slug in sends, unique in the organization */
        slug?: string;
        /** Purpose of the template */
        description?: string | null;
      },
      options?: RequestOptions,
    ): Promise<Template>;
    /** Delete a template with its versions and its history. Messages keep its id and their version. Permission: `templates:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** Publish the saved files of a template for sends. Compiles the newest commit. The same commit with the same brand CSS again gives the same version. An archived template comes back. Permission: `templates:write`. */
    publish(id: string, options?: KeyedOptions): Promise<Template>;
    /** Show the content that a send would have. Byte for byte the subject, preheader, HTML and text of a message with these values from the default sender. Stores nothing. Permission: `templates:read`. */
    render(
      id: string,
      body?: {
        /** Values for Liquid: the `email.templateData` of a send */
        data?: {
          [name: string]: unknown;
        };
        /** Slug of another brand */
        brand?: string;
        /** Contact whose values fill `contact`; needs contacts:read */
        contactId?: string;
        /** Unsubscribe group of the send: `unsubscribe_url` needs one */
        unsubscribeGroupId?: string;
        /** Footer of the brand, as in a send */
        footer?: {
          /** Whether the mail has the footer */
          enabled: boolean;
        };
        /** Render the unsaved workspace, not the published version */
        draft?: boolean;
      },
      options?: RequestOptions,
    ): Promise<RenderedTemplate>;
    /** List the published versions of a template, newest first. Permission: `templates:read`. */
    listVersions(
      id: string,
      query?: TemplatesListVersionsQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<TemplateVersion>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Take a template out of use. Sends that name it are refused until it is published again. Permission: `templates:write`. */
    archive(id: string, options?: KeyedOptions): Promise<Template>;
    /** Copy the saved files of a template to a new one. Permission: `templates:write`. */
    duplicate(
      id: string,
      body?: {
        /** Name of the copy (default: "NAME (copy)") */
        name?: string;
        /** Slug of the copy (default: SLUG-copy, with a number if taken) */
        slug?: string;
      },
      options?: KeyedOptions,
    ): Promise<Template>;
    /** Show the workspace of a template with its files. A workspace is a git repository: `files` are those of the head of main, with the staged ones over them. Permission: `templates:read`. */
    getWorkspace(id: string, options?: RequestOptions): Promise<TemplateWorkspaceView>;
    /** Stage files of a template. Sends use them after a save and a publication. Permission: `templates:write`. */
    stageFiles(
      id: string,
      body: {
        /** Revision that the caller read; another one gets a 409 */
        expectedRevision: string;
        /** Files by path; null deletes one */
        files: {
          [name: string]: string | null;
        };
        /** A repeat with the same key gets the same answer, for 24 hours */
        idempotencyKey: string;
      },
      options?: RequestOptions,
    ): Promise<TemplateWorkspaceView>;
    /** Save the staged files of a template as a commit. Without staged files it changes nothing. Permission: `templates:write`. */
    saveWorkspace(
      id: string,
      body: {
        /** Revision that the caller read; another one gets a 409 */
        expectedRevision: string;
        /** Message of the commit (default: the changed paths) */
        message?: string;
        /** A repeat with the same key gets the same answer, for 24 hours */
        idempotencyKey: string;
      },
      options?: KeyedOptions,
    ): Promise<TemplateWorkspaceView>;
    /** Discard the staged files of a template. Permission: `templates:write`. */
    discardWorkspace(
      id: string,
      body: {
        /** Revision that the caller read; another one gets a 409 */
        expectedRevision: string;
        /** A repeat with the same key gets the same answer, for 24 hours */
        idempotencyKey: string;
      },
      options?: KeyedOptions,
    ): Promise<TemplateWorkspaceView>;
    /** Stage the files of an earlier commit of a template. They replace all staged files. A later save appends a commit: history never changes. Permission: `templates:write`. */
    restoreCommit(
      id: string,
      body: {
        /** Revision that the caller read; another one gets a 409 */
        expectedRevision: string;
        /** A commit of the history of main */
        commit: string;
        /** A repeat with the same key gets the same answer, for 24 hours */
        idempotencyKey: string;
      },
      options?: KeyedOptions,
    ): Promise<TemplateRestore>;
    /** List the commits of a template. Newest first. Permission: `templates:read`. */
    listHistory(
      id: string,
      query?: TemplatesListHistoryQuery,
      options?: RequestOptions,
    ): List<TemplateHistory>;
    /** Compare two commits of a template, or one with the draft. A diff is cut off at 100 KB of a file and 1 MB in all; a differing part of more than 10,000 lines has none. Permission: `templates:read`. */
    diffCommits(
      id: string,
      query?: TemplatesDiffCommitsQuery,
      options?: RequestOptions,
    ): Promise<TemplateDiff>;
    /** Download the history of a template as a git bundle. For `git clone FILE`. Up to 32 MB; `git clone` of its URL has no limit. Permission: `templates:read`. */
    downloadBundle(id: string, options?: RequestOptions): Promise<Response>;
    /** Take commits of a template from a git bundle. Its main moves ours if it extends it and no staged file is in the way. Else it is pending: its files are merged into the draft, `conflicts` lists those that both changed, and a save makes the merge commit. Permission: `templates:write`. */
    uploadBundle(
      id: string,
      body: RawBody,
      options?: RequestOptions,
    ): Promise<TemplateWorkspaceView>;
    /** List template families, newest first. Permission: `templates:read`. */
    listFamilies(
      query?: TemplatesListFamiliesQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<TemplateFamily>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Create a template family. Permission: `templates:write`. */
    createFamily(
      body: {
        /** Name of the family */
        name: string;
      },
      options?: KeyedOptions,
    ): Promise<TemplateFamily>;
    /** Show a template family with its members. Permission: `templates:read`. */
    getFamily(familyId: string, options?: RequestOptions): Promise<TemplateFamily>;
    /** Change a template family. Permission: `templates:write`. */
    updateFamily(
      familyId: string,
      body: {
        /** Name of the family */
        name?: string;
      },
      options?: RequestOptions,
    ): Promise<TemplateFamily>;
    /** Delete a template family; its members stay templates. Permission: `templates:delete`. */
    deleteFamily(
      familyId: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** Add a template to a family. A template is in one family at most: one of another family gets a 409 that names it. Permission: `templates:write`. */
    addFamilyMember(
      familyId: string,
      templateId: string,
      options?: KeyedOptions,
    ): Promise<TemplateFamily>;
    /** Remove a template from a family; it stays a template. Permission: `templates:write`. */
    removeFamilyMember(
      familyId: string,
      templateId: string,
      options?: RequestOptions,
    ): Promise<TemplateFamily>;
  };
  readonly contacts: {
    /** Import contacts from a file. Takes CSV with a header, or JSON Lines; the headers of exports of other services are known. A row updates the contact with its address or `externalId`, or creates one; empty fields stay unchanged, and tags are added. A row of somebody who gets no mail adds a block, for which the key needs `blocks:write` too. A column that speaks of consent without a known meaning gets a 422 until `map` gives it one. Importing the same file again changes nothing. Permission: `contacts:write`. */
    import(
      body: RawBody,
      query?: ContactsImportQuery,
      options?: KeyedOptions,
    ): Promise<ContactImportReport>;
    /** Export all contacts, the oldest first. Writes CSV, in which a value that a spreadsheet would take for a formula begins with an apostrophe, or one contact on each line as JSON. An import reads both. Permission: `contacts:read`. */
    export(query?: ContactsExportQuery, options?: RequestOptions): Promise<Response>;
    /** List contacts, newest first. Permission: `contacts:read`. */
    list(
      query?: ContactsListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Contact>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Create a contact. Takes `email` or `identities`. An address of another contact, in any letter case, gets a 409 that names the contact. Permission: `contacts:write`. */
    create(
      body: {
        /** Address of the contact: short for one identity */
        email?: string;
        /** All addresses; the first gets the mail */
        identities?: Array<{
          /** Always `email` */
          channel: 'email';
          /** Email address */
          identifier: string;
        }>;
        /** Name of the contact */
        name?: string | null;
        /** Name to show for the contact */
        displayName?: string | null;
        /** URL of a picture */
        avatar?: string | null;
        /** Set to archived, or back to active */
        status?: 'active' | 'archived';
        /** Your own id of the contact, unique in the organization */
        externalId?: string | null;
        /** Facts about the contact; an update replaces them whole */
        profile?: {
          /** Given name */
          firstName?: string | null;
          /** Family name */
          lastName?: string | null;
          /** Employer of the contact */
          company?: string | null;
          /** Position in the company */
          jobTitle?: string | null;
          /** Place of the contact */
          location?: {
            /** Country of the contact */
            country?: string | null;
            /** State or province of the contact */
            state?: string | null;
            /** Town of the contact */
            city?: string | null;
            /** Time zone (IANA), such as Europe/Paris */
            timezone?: string | null;
          } | null;
          /** Texts of your own by name, at most 50 */
          customFields?: unknown;
          /** Origin of the contact, such as a form */
          source?: string | null;
        } | null;
        /** Wishes of the contact; an update replaces them whole */
        preferences?: {
          /** Channels, the preferred one first */
          preferredChannels?: Array<'email'> | null;
          /** Language, such as en */
          language?: string | null;
          /** Time zone of the quiet hours (IANA) */
          timezone?: string | null;
          /** Wanted notifications */
          notifications?: {
            /** Whether the contact wants campaigns by email */
            email?: boolean | null;
            /** Hours without campaigns */
            quiet_hours?: {
              /** Begin, such as 22:00 */
              start: string;
              /** End, such as 07:00 */
              end: string;
            } | null;
          } | null;
        } | null;
        /** Tags of the contact */
        tags?: Array<string>;
        /** Values of your own by name, at most 50; an update replaces them whole */
        metadata?: {
          [name: string]: string | number | boolean | null;
        };
      },
      options?: KeyedOptions,
    ): Promise<Contact>;
    /** Show a contact. Permission: `contacts:read`. */
    get(id: string, options?: RequestOptions): Promise<Contact>;
    /** Change a contact. Each given field is replaced whole; `status` can be set to `active` and `archived`. Permission: `contacts:write`. */
    update(
      id: string,
      body: {
        /** Address of the contact: short for one identity */
        email?: string;
        /** All addresses; the first gets the mail */
        identities?: Array<{
          /** Always `email` */
          channel: 'email';
          /** Email address */
          identifier: string;
        }>;
        /** Name of the contact */
        name?: string | null;
        /** Name to show for the contact */
        displayName?: string | null;
        /** URL of a picture */
        avatar?: string | null;
        /** Set to archived, or back to active */
        status?: 'active' | 'archived';
        /** Your own id of the contact, unique in the organization */
        externalId?: string | null;
        /** Facts about the contact; an update replaces them whole */
        profile?: {
          /** Given name */
          firstName?: string | null;
          /** Family name */
          lastName?: string | null;
          /** Employer of the contact */
          company?: string | null;
          /** Position in the company */
          jobTitle?: string | null;
          /** Place of the contact */
          location?: {
            /** Country of the contact */
            country?: string | null;
            /** State or province of the contact */
            state?: string | null;
            /** Town of the contact */
            city?: string | null;
            /** Time zone (IANA), such as Europe/Paris */
            timezone?: string | null;
          } | null;
          /** Texts of your own by name, at most 50 */
          customFields?: unknown;
          /** Origin of the contact, such as a form */
          source?: string | null;
        } | null;
        /** Wishes of the contact; an update replaces them whole */
        preferences?: {
          /** Channels, the preferred one first */
          preferredChannels?: Array<'email'> | null;
          /** Language, such as en */
          language?: string | null;
          /** Time zone of the quiet hours (IANA) */
          timezone?: string | null;
          /** Wanted notifications */
          notifications?: {
            /** Whether the contact wants campaigns by email */
            email?: boolean | null;
            /** Hours without campaigns */
            quiet_hours?: {
              /** Begin, such as 22:00 */
              start: string;
              /** End, such as 07:00 */
              end: string;
            } | null;
          } | null;
        } | null;
        /** Tags of the contact */
        tags?: Array<string>;
        /** Values of your own by name, at most 50; an update replaces them whole */
        metadata?: {
          [name: string]: string | number | boolean | null;
        };
      },
      options?: RequestOptions,
    ): Promise<Contact>;
    /** List the tags of contacts, with the number of contacts of each. Permission: `contacts:read`. */
    listTags(
      query?: ContactsListTagsQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<ContactTag>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Add tags to a contact. Permission: `contacts:write`. */
    addTags(
      id: string,
      body: {
        /** Tags to add or to remove */
        tags: Array<string>;
      },
      options?: KeyedOptions,
    ): Promise<Contact>;
    /** Remove tags from a contact; missing ones are ignored. Permission: `contacts:write`. */
    removeTags(
      id: string,
      body: {
        /** Tags to add or to remove */
        tags: Array<string>;
      },
      options?: RequestOptions,
    ): Promise<Contact>;
    /** Delete a contact for good. It is removed from the recipients of messages too, whose addresses stay. Its blocks stay. Permission: `contacts:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
  };
  readonly conversations: {
    /** List conversations, newest first. Permission: `conversations:read`. */
    list(
      query?: ConversationsListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Conversation>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Create a conversation. A new conversation is `active`. A send with its id as `conversationId` belongs to it, and so does an incoming answer to such a message. The external id of another conversation gets a 409 that names it. Permission: `conversations:write`. */
    create(
      body: {
        /** Title of the conversation */
        title?: string | null;
        /** Your own id of the conversation, unique in the organization */
        externalId?: string | null;
        /** Description of the conversation */
        description?: string | null;
        /** Conversation that it continues, which may be deleted later */
        parentConversationId?: string | null;
        /** Priority, 0 to 100 */
        priority?: number;
        /** Haste of the answer */
        urgency?: 'low' | 'normal' | 'high' | 'urgent';
        /** Difficulty of the answer */
        complexity?: 'simple' | 'moderate' | 'complex' | null;
        /** Tags of the conversation */
        tags?: Array<string>;
        /** Categories of the conversation */
        categories?: Array<string>;
        /** Values of your own by name, at most 50; an update replaces them whole */
        metadata?: {
          [name: string]: string | number | boolean | null;
        };
        /** Facts for programs that answer, at most 32 KB of JSON; an update replaces them whole */
        context?: {
          /** Facts about the customer */
          customerData?: unknown;
          /** Earlier conversations, as ids or names */
          previousConversations?: Array<string> | null;
          /** Values of the session */
          sessionVariables?: unknown;
          /** State of a workflow of your own */
          workflowState?: {
            /** Present step */
            currentStep?: string | null;
            /** Steps that are done */
            completedSteps?: Array<string> | null;
            /** Steps that are left */
            pendingSteps?: Array<string> | null;
            /** Values of the workflow */
            workflowData?: unknown;
          } | null;
        } | null;
        /** Mark it as internal */
        isInternal?: boolean;
        /** Mark it as private */
        isPrivate?: boolean;
      },
      options?: KeyedOptions,
    ): Promise<Conversation>;
    /** Show a conversation. Permission: `conversations:read`. */
    get(id: string, options?: RequestOptions): Promise<Conversation>;
    /** Change a conversation. Each given field is replaced whole. Permission: `conversations:write`. */
    update(
      id: string,
      body: {
        /** Title of the conversation */
        title?: string | null;
        /** Your own id of the conversation, unique in the organization */
        externalId?: string | null;
        /** Description of the conversation */
        description?: string | null;
        /** Conversation that it continues, which may be deleted later */
        parentConversationId?: string | null;
        /** Priority, 0 to 100 */
        priority?: number;
        /** Haste of the answer */
        urgency?: 'low' | 'normal' | 'high' | 'urgent';
        /** Difficulty of the answer */
        complexity?: 'simple' | 'moderate' | 'complex' | null;
        /** Tags of the conversation */
        tags?: Array<string>;
        /** Categories of the conversation */
        categories?: Array<string>;
        /** Values of your own by name, at most 50; an update replaces them whole */
        metadata?: {
          [name: string]: string | number | boolean | null;
        };
        /** Facts for programs that answer, at most 32 KB of JSON; an update replaces them whole */
        context?: {
          /** Facts about the customer */
          customerData?: unknown;
          /** Earlier conversations, as ids or names */
          previousConversations?: Array<string> | null;
          /** Values of the session */
          sessionVariables?: unknown;
          /** State of a workflow of your own */
          workflowState?: {
            /** Present step */
            currentStep?: string | null;
            /** Steps that are done */
            completedSteps?: Array<string> | null;
            /** Steps that are left */
            pendingSteps?: Array<string> | null;
            /** Values of the workflow */
            workflowData?: unknown;
          } | null;
        } | null;
        /** Mark it as internal */
        isInternal?: boolean;
        /** Mark it as private */
        isPrivate?: boolean;
      },
      options?: RequestOptions,
    ): Promise<Conversation>;
    /** Add tags to a conversation. Permission: `conversations:write`. */
    addTags(
      id: string,
      body: {
        /** Tags to add or to remove */
        tags: Array<string>;
      },
      options?: KeyedOptions,
    ): Promise<Conversation>;
    /** Remove tags from a conversation; missing ones are ignored. Permission: `conversations:write`. */
    removeTags(
      id: string,
      body: {
        /** Tags to add or to remove */
        tags: Array<string>;
      },
      options?: RequestOptions,
    ): Promise<Conversation>;
    /** Resolve an active or waiting conversation. The next incoming message makes it active again. Permission: `conversations:write`. */
    resolve(
      id: string,
      body?: {
        /** Reason for the new status */
        statusReason?: string | null;
        /** Kind of resolution (default: manual) */
        resolutionType?: 'automated' | 'manual' | 'abandoned';
        /** Notes on the resolution */
        resolutionNotes?: string | null;
      },
      options?: KeyedOptions,
    ): Promise<Conversation>;
    /** Archive a conversation. Later messages are still counted in it, and leave it archived. Permission: `conversations:write`. */
    archive(
      id: string,
      body?: {
        /** Reason for the new status */
        statusReason?: string | null;
      },
      options?: KeyedOptions,
    ): Promise<Conversation>;
    /** Reopen a resolved or archived conversation. Permission: `conversations:write`. */
    reopen(
      id: string,
      body?: {
        /** Reason for the new status */
        statusReason?: string | null;
      },
      options?: KeyedOptions,
    ): Promise<Conversation>;
    /** Delete a conversation for good; its messages stay. Permission: `conversations:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
  };
  readonly contactGroups: {
    /** List contact groups, newest first. Permission: `contacts:read`. */
    list(
      query?: ContactGroupsListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<ContactGroup>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Create a contact group. Permission: `contacts:write`. */
    create(
      body: {
        /** Name of the group */
        name: string;
        /** Description of its members */
        description?: string | null;
        /** Conditions that make a contact a member; without them, add members */
        query?: ContactQuery;
      },
      options?: KeyedOptions,
    ): Promise<ContactGroup>;
    /** Show a contact group. Permission: `contacts:read`. */
    get(id: string, options?: RequestOptions): Promise<ContactGroup>;
    /** Change a contact group. Permission: `contacts:write`. */
    update(
      id: string,
      body: {
        /** Name of the group */
        name?: string;
        /** Description of its members */
        description?: string | null;
        /** Conditions of a group by query */
        query?: ContactQuery;
      },
      options?: RequestOptions,
    ): Promise<ContactGroup>;
    /** Delete a contact group; its members stay contacts. Permission: `contacts:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** List the contacts of a group, newest first. Permission: `contacts:read`. */
    listMembers(
      id: string,
      query?: ContactGroupsListMembersQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Contact>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Add contacts to a group. Takes up to 10,000; existing members stay. If one of them does not exist, none is added. A group by query takes none (409). Permission: `contacts:write`. */
    addMembers(
      id: string,
      body: {
        /** Ids of contacts, at most 10,000 */
        contactIds: Array<string>;
      },
      options?: KeyedOptions,
    ): Promise<ContactGroup>;
    /** Remove contacts from a group; others are ignored. Permission: `contacts:write`. */
    removeMembers(
      id: string,
      body: {
        /** Ids of contacts, at most 10,000 */
        contactIds: Array<string>;
      },
      options?: RequestOptions,
    ): Promise<ContactGroup>;
  };
  readonly campaigns: {
    /** List campaigns, newest first. Permission: `campaigns:read`. */
    list(
      query?: CampaignsListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Campaign>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Create a campaign. Nothing is sent before a run. The content is checked as that of a send; `warnings` has what a run would be refused for. Permission: `campaigns:write`. */
    create(
      body: {
        /** Name, for people */
        name: string;
        /** Always `email` */
        channel?: 'email';
        /** Content: a subject with html or text, or a template */
        email: {
          /** With Liquid, it is filled for each contact: `{{ contact.firstName }}` */
          subject?: string;
          /** With Liquid, it is filled for each contact: `{{ contact.firstName }}` */
          html?: string;
          /** Default for HTML: a text made from it. With Liquid, it is filled too */
          text?: string;
          /** Published template to fill, by id */
          templateId?: string;
          /** Published template to fill, by slug */
          templateSlug?: string;
          /** Values that all recipients share */
          templateData?: {
            [name: string]: unknown;
          };
          /** Addresses that replies go to (default: those of the sender) */
          replyTo?: Array<string>;
          /** Files to attach, 40 MB in all once encoded */
          attachments?: Array<{
            /** File name that the reader sees */
            filename: string;
            /** The file, base64 (RFC 4648 section 4) */
            content: string;
            /** Media type with parameters (RFC 2045 5.1); default: by the file name */
            contentType?: string;
            /** Id by which the HTML shows the file, as `cid:ID` */
            contentId?: string;
          }>;
          /** Unsubscribe group: the mail gets a link to leave it */
          unsubscribeGroupId?: string;
          /** Whether opens and clicks are tracked; default: the setting of the organization. Mail without HTML is not tracked. A tracked message goes alone to each recipient */
          tracking?: {
            /** Record opens by a pixel in the HTML */
            opens?: boolean;
            /** Record clicks by rewritten links in the HTML */
            clicks?: boolean;
          };
          /** Whether company, postal address, social links and the unsubscribe link of the brand are added; default: no. A template with `{% brand_footer %}` has them at its place */
          footer?: {
            /** Whether the mail has the footer */
            enabled: boolean;
          };
          /** Message that this mail answers: both are in the same thread */
          inReplyToMessageId?: string;
          /** Importance that mail programs show */
          priority?: 'high' | 'normal' | 'low';
        };
        /** A verified sender, or any address of a verified domain */
        from?: {
          /** Address of the sender */
          email: string;
          /** Display name (default: that of the sender identity) */
          name?: string;
        } | null;
        /** Contacts that get the mail */
        audience: {
          /** Contacts with any of these tags, at most 100 */
          includeTags?: Array<string>;
          /** None of the contacts with any of these tags */
          excludeTags?: Array<string>;
          /** These contacts too, at most 10,000 */
          contactIds?: Array<string>;
          /** The members of these groups of contacts too, at most 100 */
          groupIds?: Array<string>;
        };
        /** Conversation that all messages join */
        conversationId?: string | null;
        /** Kept with each message */
        metadata?: {
          [name: string]: string | number | boolean | null;
        } | null;
        /** Allow tags and groups without an unsubscribe group: mail that everybody must get */
        transactional?: boolean;
      },
      options?: KeyedOptions,
    ): Promise<Campaign>;
    /** Show a campaign. Permission: `campaigns:read`. */
    get(id: string, options?: RequestOptions): Promise<Campaign>;
    /** Change a campaign. A run keeps the content and the audience that it began with. Permission: `campaigns:write`. */
    update(
      id: string,
      body: {
        /** Name, for people */
        name?: string;
        /** Replaces the whole content */
        email?: {
          /** With Liquid, it is filled for each contact: `{{ contact.firstName }}` */
          subject?: string;
          /** With Liquid, it is filled for each contact: `{{ contact.firstName }}` */
          html?: string;
          /** Default for HTML: a text made from it. With Liquid, it is filled too */
          text?: string;
          /** Published template to fill, by id */
          templateId?: string;
          /** Published template to fill, by slug */
          templateSlug?: string;
          /** Values that all recipients share */
          templateData?: {
            [name: string]: unknown;
          };
          /** Addresses that replies go to (default: those of the sender) */
          replyTo?: Array<string>;
          /** Files to attach, 40 MB in all once encoded */
          attachments?: Array<{
            /** File name that the reader sees */
            filename: string;
            /** The file, base64 (RFC 4648 section 4) */
            content: string;
            /** Media type with parameters (RFC 2045 5.1); default: by the file name */
            contentType?: string;
            /** Id by which the HTML shows the file, as `cid:ID` */
            contentId?: string;
          }>;
          /** Unsubscribe group: the mail gets a link to leave it */
          unsubscribeGroupId?: string;
          /** Whether opens and clicks are tracked; default: the setting of the organization. Mail without HTML is not tracked. A tracked message goes alone to each recipient */
          tracking?: {
            /** Record opens by a pixel in the HTML */
            opens?: boolean;
            /** Record clicks by rewritten links in the HTML */
            clicks?: boolean;
          };
          /** Whether company, postal address, social links and the unsubscribe link of the brand are added; default: no. A template with `{% brand_footer %}` has them at its place */
          footer?: {
            /** Whether the mail has the footer */
            enabled: boolean;
          };
          /** Message that this mail answers: both are in the same thread */
          inReplyToMessageId?: string;
          /** Importance that mail programs show */
          priority?: 'high' | 'normal' | 'low';
        };
        /** A verified sender, or any address of a verified domain */
        from?: {
          /** Address of the sender */
          email: string;
          /** Display name (default: that of the sender identity) */
          name?: string;
        } | null;
        /** Replaces the whole audience */
        audience?: {
          /** Contacts with any of these tags, at most 100 */
          includeTags?: Array<string>;
          /** None of the contacts with any of these tags */
          excludeTags?: Array<string>;
          /** These contacts too, at most 10,000 */
          contactIds?: Array<string>;
          /** The members of these groups of contacts too, at most 100 */
          groupIds?: Array<string>;
        };
        /** Conversation that all messages join */
        conversationId?: string | null;
        /** Kept with each message */
        metadata?: {
          [name: string]: string | number | boolean | null;
        } | null;
        /** Allow tags and groups without an unsubscribe group: mail that everybody must get */
        transactional?: boolean;
      },
      options?: RequestOptions,
    ): Promise<Campaign>;
    /** Delete a campaign with its runs; messages stay. 409 while a run is scheduled, running, paused or held. Permission: `campaigns:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** Copy a campaign without its runs. Permission: `campaigns:write`. */
    duplicate(
      id: string,
      body?: {
        /** Name of the copy (default: "NAME (copy)") */
        name?: string;
      },
      options?: KeyedOptions,
    ): Promise<Campaign>;
    /** Count the contacts of a campaign by fate, and the time of a run. At the pace of plan, daily quota and warming. Mail that others send meanwhile is not known. Permission: `campaigns:read`. */
    estimate(
      id: string,
      query?: CampaignsEstimateQuery,
      options?: RequestOptions,
    ): Promise<CampaignEstimate>;
    /** Show the mail of a campaign as a contact would get it. Leaves out links of the recipient, such as the link to unsubscribe. Stores nothing. Permission: `campaigns:read`. */
    render(
      id: string,
      body: {
        /** Contact whose values fill the mail; needs contacts:read. Left out: values of contacts are missing */
        contactId?: string;
      },
      options?: RequestOptions,
    ): Promise<CampaignPreview>;
    /** Send the mail of a campaign to a few addresses. The subject begins with `[Test]`. The mails are ordinary messages: they draw on rate and quota, and are in no run. One result for each address, in order. Permission: `campaigns:run`. */
    test(
      id: string,
      body: {
        /** Address; a contact with this address fills the mail */
        to: Array<string>;
      },
      options?: KeyedOptions,
    ): Promise<Array<BatchResult>>;
    /** Send a campaign to its audience, now or later. The run is `scheduled` until its time, and then `running`. When it starts it takes snapshots of content and audience: later changes do not reach it. Each contact gets one message at most. A repeat with the same `idempotencyKey` returns the original run. Permission: `campaigns:run`. */
    createRun(
      id: string,
      body?: {
        /** Time of the start: not past, and within a year (default: now) */
        scheduledFor?: unknown;
        /** Repeating a request with the same key returns the original run */
        idempotencyKey?: string | null;
        /** Leave out contacts of earlier runs of the campaign */
        onlyNew?: boolean;
      },
      options?: KeyedOptions,
    ): Promise<CampaignRun>;
    /** List the runs of a campaign, newest first. Permission: `campaigns:read`. */
    listRuns(
      id: string,
      query?: CampaignsListRunsQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<CampaignRunSummary>;
      /** Value of `cursor` for the next page; null on the last page */
      nextCursor: string | null;
    }>;
    /** Show a run with its counts and its snapshots. Permission: `campaigns:read`. */
    getRun(id: string, runId: string, options?: RequestOptions): Promise<CampaignRun>;
    /** Pause a running run, or the queued mail of a completed run. Queued mail waits too (`waitReason: campaign-paused`). A completed run without queued mail gets a 409. Permission: `campaigns:run`. */
    pauseRun(
      id: string,
      runId: string,
      body?: {
        /** Reason, for the audit */
        note?: string;
      },
      options?: KeyedOptions,
    ): Promise<CampaignRun>;
    /** Resume a paused or held run. A held run needs a `note`. One that had not started is `scheduled` again, and one that was completed is `completed` again. Permission: `campaigns:run`. */
    resumeRun(
      id: string,
      runId: string,
      body?: {
        /** Findings of the review, for the audit; a held run needs them */
        note?: string;
      },
      options?: KeyedOptions,
    ): Promise<CampaignRun>;
    /** End a run for good. Cancels all mail that has not left. A completed run can be cancelled while mail of the run is queued; the counts of the run stay. Permission: `campaigns:run`. */
    cancelRun(
      id: string,
      runId: string,
      body?: {
        /** Reason, for the audit */
        note?: string;
      },
      options?: KeyedOptions,
    ): Promise<CampaignRun>;
    /** Make a run to the contacts that failed in an ended run. Those for whom no message could be made, and those whose message failed; never bounced or complained ones, nor those of another retry of the run. It has the content of the campaign as it is now. Permission: `campaigns:run`. */
    retryRun(
      id: string,
      runId: string,
      body?: {
        /** Repeating a request with the same key returns the original run */
        idempotencyKey?: string | null;
      },
      options?: KeyedOptions,
    ): Promise<CampaignRun>;
    /** List the contacts that a run has checked, by contact id. Permission: `campaigns:read`. */
    listRunRecipients(
      id: string,
      runId: string,
      query?: CampaignsListRunRecipientsQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<RunRecipient>;
      /** Value of `cursor` for the next page; null on the last page */
      nextCursor: string | null;
    }>;
  };
  readonly extensions: {
    /** List the extensions of the organization and the public ones, newest first. Permission: `extensions:read`. */
    list(
      query?: ExtensionsListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Extension>;
      /** Value of `cursor` for the next page; null on the last page */
      nextCursor: string | null;
    }>;
    /** Create an extension. A program that its maker runs elsewhere: no code of it runs in the daemon. It can be installed once it has a version. Permission: `extensions:write`. */
    create(
      body: {
        /** Slug, unique in the organization */
        name: string;
        /** Name, for people */
        displayName?: string | null;
        /** Its purpose */
        description?: string | null;
        /** Way of its events: posts to a webhook, or the stream that a program reads */
        runtime?: 'webhook' | 'hosted';
      },
      options?: KeyedOptions,
    ): Promise<Extension>;
    /** Show an extension. Permission: `extensions:read`. */
    get(id: string, options?: RequestOptions): Promise<Extension>;
    /** Change the texts of an extension. Its name stays, and so do the grants of its versions. Permission: `extensions:write`. */
    update(
      id: string,
      body: {
        /** Name, for people */
        displayName?: string | null;
        /** Its purpose */
        description?: string | null;
      },
      options?: RequestOptions,
    ): Promise<Extension>;
    /** Delete an extension with its versions. A 409 while it is installed in any organization. Permission: `extensions:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** List the versions of an extension, newest first. Permission: `extensions:read`. */
    listVersions(
      id: string,
      query?: ExtensionsListVersionsQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<ListedExtensionVersion>;
      /** Value of `cursor` for the next page; null on the last page */
      nextCursor: string | null;
    }>;
    /** Publish a version of an extension. It never changes afterwards. `permissions` and `events` are what it asks for, each by its name, without wildcards. Installations keep their version until a person upgrades them. Permission: `extensions:write`. */
    publishVersion(
      id: string,
      body: {
        /** Semantic version (SemVer 2.0.0), such as 1.4.0 */
        version: string;
        /** Permission that it asks for, such as mailboxes:read */
        permissions: Array<string>;
        /** Kind of event that it asks for, such as mailbox.message.received */
        events: Array<string>;
        /** Send mode that it can work with: none, approval or send */
        sendModes: Array<'none' | 'approval' | 'send'>;
        /** Default: the runtime of the extension */
        runtime?: 'webhook' | 'hosted';
        /** What is new in it */
        changelog?: string | null;
      },
      options?: KeyedOptions,
    ): Promise<ExtensionVersion>;
    /** Show a version by its number or its id. Permission: `extensions:read`. */
    getVersion(id: string, version: string, options?: RequestOptions): Promise<ExtensionVersion>;
    /** Stop offering a version. Its installations keep it. Nobody installs it or upgrades to it any more. Permission: `extensions:write`. */
    withdrawVersion(id: string, version: string, options?: KeyedOptions): Promise<ExtensionVersion>;
  };
  readonly extensionInstallations: {
    /** List the installations of extensions, newest first. Permission: `extensions:read`. */
    list(
      query?: ExtensionInstallationsListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<ExtensionInstallation>;
      /** Value of `cursor` for the next page; null on the last page */
      nextCursor: string | null;
    }>;
    /** Install an extension with exactly the accepted grants. `acceptPermissions` must list the grants of the version, no more and no less. What the caller may not do itself it cannot grant. A scope binds the installation to the paths under its mailboxes. Only this answer has the key, and the secret of the webhook. Permission: `extensions:write`. */
    create(
      body: {
        /** The extension to install */
        extensionId: string;
        /** Version, such as 1.4.0, or its id (default: the latest) */
        version?: string | null;
        /** none: it never sends; approval: a person approves its mail; send: it sends at once */
        sendMode?: 'none' | 'approval' | 'send' | null;
        /** Mailboxes that it reaches; empty for all */
        scope?: {
          /** Mailboxes that it reaches */
          mailboxIds?: Array<string>;
          /** Namespace whose mailboxes it reaches */
          namespaceId?: string | null;
        } | null;
        /** URL that its events are posted to; only for the runtime webhook */
        webhookUrl?: string | null;
        /** Exactly the grants of the version: permission:mailboxes:read, event:… */
        acceptPermissions: Array<string>;
      },
      options?: KeyedOptions,
    ): Promise<InstalledExtension>;
    /** Show the calling installation. Each installation may read itself, without a permission. 404 for other keys. Permission: `extensions:read`. */
    getOwn(options?: RequestOptions): Promise<ExtensionInstallation>;
    /** Show an installation of an extension. Permission: `extensions:read`. */
    get(id: string, options?: RequestOptions): Promise<ExtensionInstallation>;
    /** Change send mode, scope or webhook of an installation. Its grants change by an upgrade alone. Only a person may widen its send mode or its scope. Permission: `extensions:write`. */
    update(
      id: string,
      body: {
        /** none: it never sends; approval: a person approves its mail; send: it sends at once */
        sendMode?: 'none' | 'approval' | 'send';
        /** Mailboxes that it reaches; empty for all */
        scope?: {
          /** Mailboxes that it reaches */
          mailboxIds?: Array<string>;
          /** Namespace whose mailboxes it reaches */
          namespaceId?: string | null;
        } | null;
        /** URL that its events are posted to; only for the runtime webhook */
        webhookUrl?: string;
      },
      options?: RequestOptions,
    ): Promise<ExtensionInstallation>;
    /** Uninstall an extension. Its key and its webhook end for good, with what waits there, and its proposals expire. Permission: `extensions:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** Disable an installation at once. Its key is refused and its streams end. Posts to its webhook wait, and nothing new is queued for it. Permission: `extensions:write`. */
    disable(id: string, options?: KeyedOptions): Promise<ExtensionInstallation>;
    /** Enable an installation with all that it had. Also one whose webhook was disabled for its failures. Permission: `extensions:write`. */
    enable(id: string, options?: KeyedOptions): Promise<ExtensionInstallation>;
    /** Replace the key of an installation, and the secret of its webhook. The old key ends at once. Both secrets sign for 24 hours. Permission: `extensions:write`. */
    rotateExtensionCredentials(id: string, options?: KeyedOptions): Promise<InstalledExtension>;
    /** Change the version of an installation in place. Only a person may, and `acceptPermissions` must list exactly the grants that are new. An older version rolls back. Credentials, owner, scope, send mode and status stay. With `dryRun` nothing changes. Permission: `extensions:write`. */
    upgrade(
      id: string,
      body?: {
        /** Version, such as 1.4.0, or its id (default: the latest); an older one rolls back */
        version?: string | null;
        /** Exactly the grants that the version adds; left out: none */
        acceptPermissions?: Array<string> | null;
        /** Show the difference and change nothing */
        dryRun?: boolean | null;
        /** Refuse the upgrade unless this version is installed now */
        expectedVersion?: string | null;
      },
      options?: KeyedOptions,
    ): Promise<ExtensionUpgrade>;
    /** List the upgrades and rollbacks of an installation, newest first. They are kept for good, also after the installation was deleted. Permission: `extensions:read`. */
    listInstallationVersionChanges(
      id: string,
      query?: ExtensionInstallationsListInstallationVersionChangesQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<InstallationVersionChange>;
      /** Value of `cursor` for the next page; null on the last page */
      nextCursor: string | null;
    }>;
  };
  readonly events: {
    /** List the events of the organization. Lists the newest first, or the oldest first with `order`. `GET /v1/events/stream`, with the same filters, sends events as they happen, as server-sent events: `id` is the event, `event` its kind, `data` the object listed here. A `Last-Event-ID` header continues behind that event; `since` begins in the past. A comment is sent every 15 seconds. A key bound to mailboxes gets the events of its own there, with `mailboxes:read`; `GET /v1/mailboxes/{id}/events/stream` sends those of one mailbox. Permission: `webhooks:read`. */
    list(
      query?: EventsListQuery,
      options?: RequestOptions,
    ): List<{
      /** Events of this page */
      items: Array<Event>;
      /** Null on the last page; a page before may be short, or empty */
      nextCursor: string | null;
    }>;
    /** List the kinds of events, each with the schema of its data and a sample. Permission: `webhooks:read`. */
    listKinds(options?: RequestOptions): Promise<{
      /** All kinds of events */
      items: Array<EventKind>;
    }>;
    /** Follows the events; continues after a cut. */
    stream(options?: StreamOptions<EventsStreamQuery>): AsyncIterable<Event>;
  };
  readonly webhooks: {
    /** List webhooks, newest first. Without those of installations, which `GET /v1/webhooks/{id}` shows. Permission: `webhooks:read`. */
    list(
      query?: WebhooksListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Webhook>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Create a webhook. Posts are signed by the Standard Webhooks scheme, with `secret`, which is shown only this once. Private addresses are refused unless the configuration allows them. Permission: `webhooks:write`. */
    create(
      body: {
        /** Name of the webhook */
        name?: string | null;
        /** URL that receives the events: http:// or https:// */
        url: string;
        /** Kinds of events, such as `message.delivered`, `message.*` or `*` */
        events: Array<string>;
        /** Channels of the events (default: all) */
        channels?: Array<'email'>;
        /** At most 20 of your own, sent with each post; none that the service sets */
        headers?: {
          [name: string]: string;
        } | null;
      },
      options?: KeyedOptions,
    ): Promise<Webhook>;
    /** Show a webhook. Permission: `webhooks:read`. */
    get(id: string, options?: RequestOptions): Promise<Webhook>;
    /** Change a webhook. A disabled webhook gets no events; enabled again, it starts without a backlog. Permission: `webhooks:write`. */
    update(
      id: string,
      body: {
        /** Name of the webhook */
        name?: string | null;
        /** URL that receives the events: http:// or https:// */
        url?: string;
        /** Kinds of events, such as `message.delivered`, `message.*` or `*` */
        events?: Array<string>;
        /** Channels of the events */
        channels?: Array<'email'>;
        /** At most 20 of your own, sent with each post; none that the service sets */
        headers?: {
          [name: string]: string;
        } | null;
        /** A disabled webhook gets no events, and its waiting deliveries are cancelled */
        status?: 'active' | 'disabled';
      },
      options?: RequestOptions,
    ): Promise<Webhook>;
    /** Delete a webhook. Deletes its waiting deliveries, its history and its statistics too. The one of an installation goes with that. Permission: `webhooks:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** Replace the secret of a webhook. The new secret is in `secret`, only this once. Old and new both sign each post for 24 hours. Permission: `webhooks:write`. */
    rotateSecret(id: string, options?: KeyedOptions): Promise<Webhook>;
    /** Post a test event to a webhook. Publishes a `webhook.test` event with your `data`, which is delivered and retried like any other. Permission: `webhooks:write`. */
    test(
      id: string,
      body?: {
        /** The `data` of the event; default: an empty object */
        data?: unknown;
      },
      options?: KeyedOptions,
    ): Promise<WebhookTest>;
    /** Count the deliveries of a webhook by day. Permission: `webhooks:read`. */
    getStats(
      id: string,
      query?: WebhooksGetStatsQuery,
      options?: RequestOptions,
    ): Promise<WebhookStats>;
    /** List the deliveries of a webhook, newest first. Permission: `webhooks:read`. */
    listDeliveries(
      id: string,
      query?: WebhooksListDeliveriesQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<WebhookDelivery>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Show a delivery of a webhook with its attempts. Permission: `webhooks:read`. */
    getDelivery(
      id: string,
      deliveryId: string,
      options?: RequestOptions,
    ): Promise<WebhookDeliveryWithAttempts>;
    /** Retry a delivery of a webhook now. Waits for the answer. The automatic attempts stay as planned. Permission: `webhooks:write`. */
    redeliver(id: string, deliveryId: string, options?: KeyedOptions): Promise<WebhookRedelivery>;
    /** Post logged events again. Creates new deliveries of past events, under their old `webhook-id`, behind new events. The oldest 10,000 at most, less the pending ones; one replay at a time. Permission: `webhooks:write`. */
    replay(
      id: string,
      body?: {
        /** Only events whose delivery to this endpoint has this status */
        status?: 'pending' | 'delivered' | 'exhausted' | 'cancelled';
        /** Only events from this time on */
        after?: string;
        /** The same as `after` */
        since?: string;
        /** Only events before this time */
        before?: string;
        /** The same as `before` */
        until?: string;
        /** Only these kinds; default: those of the endpoint */
        events?: Array<string>;
      },
      options?: KeyedOptions,
    ): Promise<WebhookReplay>;
  };
  readonly apiKeys: {
    /** List API keys, newest first. Permission: `keys:read`. */
    list(
      query?: ApiKeysListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<ApiKey>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Create an API key. The plaintext is in `key`, only this once. A key cannot create a key with more rights than its own. Permission: `keys:write`. */
    create(
      body: {
        /** Name of the key: its purpose */
        name?: string | null;
        /** Description of the key */
        description?: string | null;
        /** Role (default, without permissions: developer) */
        role?:
          | 'owner'
          | 'admin'
          | 'developer'
          | 'editor'
          | 'support'
          | 'analyst'
          | 'sender'
          | 'viewer';
        /** Resource to actions, such as {"messages": ["send", "read"]}; "*" is any */
        permissions?: {
          [name: string]: Array<string>;
        };
        /** Holder of the key; some operations need a person */
        owner?: 'person' | 'service';
        /** A test key reaches only simulator addresses and local mailboxes */
        mode?: 'live' | 'test';
        /** Time at which the key expires, ISO 8601 */
        expiresAt?: string | null;
        /** Limits of the key: senders, networks and mailboxes */
        constraints?: {
          /** From addresses allowed for its mail, besides those in `domains` */
          senders?: Array<string>;
          /** Domains allowed in the From of its mail; subdomains are separate */
          domains?: Array<string>;
          /** IP addresses and CIDR ranges from which it may be used */
          ipRanges?: Array<string>;
          /** Mailboxes under which it reaches paths, and no others */
          mailboxIds?: Array<string>;
          /** Namespace of the mailboxes under which it reaches paths, and no others */
          namespaceId?: string;
        } | null;
        /** Mail from its mailboxes goes at once, or once a person approves it */
        sendMode?: 'send' | 'approval';
      },
      options?: KeyedOptions,
    ): Promise<ApiKey>;
    /** Show an API key. Permission: `keys:read`. */
    get(id: string, options?: RequestOptions): Promise<ApiKey>;
    /** Change the name, description or constraints of an API key. A key can change only the constraints of a key that it could create, with the old and the new constraints. They hold in every daemon within a second. Permission: `keys:write`. */
    update(
      id: string,
      body: {
        /** Name of the key: its purpose */
        name?: string | null;
        /** Description of the key */
        description?: string | null;
        /** Replaces the constraints of the key; null removes them */
        constraints?: {
          /** From addresses allowed for its mail, besides those in `domains` */
          senders?: Array<string>;
          /** Domains allowed in the From of its mail; subdomains are separate */
          domains?: Array<string>;
          /** IP addresses and CIDR ranges from which it may be used */
          ipRanges?: Array<string>;
          /** Mailboxes under which it reaches paths, and no others */
          mailboxIds?: Array<string>;
          /** Namespace of the mailboxes under which it reaches paths, and no others */
          namespaceId?: string;
        } | null;
      },
      options?: RequestOptions,
    ): Promise<ApiKey>;
    /** Revoke an API key. Every daemon refuses the key within a second. Revoking it again succeeds. Permission: `keys:delete`. */
    revoke(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** Replace an API key. Creates a new key with the same owner, name, permissions and constraints; its plaintext is in `key`. The old key is deactivated; with `graceSeconds` it expires after that time. A revoked, expired or already replaced key is refused. Permission: `keys:write`. */
    rotate(
      id: string,
      body?: {
        /** Seconds for which the old key stays valid beside the new one (default: 0) */
        graceSeconds?: number;
      },
      options?: KeyedOptions,
    ): Promise<ApiKey>;
  };
  readonly members: {
    /** List members, newest first. Permission: `members:read`. */
    list(
      query?: MembersListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<Member>;
      /** Place of this page in the list */
      pagination: {
        /** Number of this page, from 1 */
        page: number;
        /** Most items of a page */
        limit: number;
        /** Number of items on all pages */
        total: number;
        /** Number of pages */
        totalPages: number;
        /** There are at least `total` items: counting all takes too long */
        totalCapped?: true;
      };
    }>;
    /** Invite a member. Mails an invitation that works once, for 7 days. Only a person invites, to a role that can do no more, and only an owner invites owners. An organization has at most 20 open invitations: then 409. An address gets five such mails a day: then 429. Permission: `members:write`. */
    create(
      body: {
        /** Address of the person */
        email: string;
        /** Role of the member */
        role:
          | 'owner'
          | 'admin'
          | 'developer'
          | 'editor'
          | 'support'
          | 'analyst'
          | 'sender'
          | 'viewer';
        /** Name in this organization */
        name?: string | null;
        /** Mail the invitation (default: true); without it, the operator hands over a link */
        mail?: boolean;
      },
      options?: KeyedOptions,
    ): Promise<Member>;
    /** Show a member. Permission: `members:read`. */
    get(id: string, options?: RequestOptions): Promise<Member>;
    /** Change a member. A new role ends an open invitation, and `disabled` the sessions of the person in this organization. Nobody changes the own role, and only an owner changes owners. The last active owner stays one: 409. Permission: `members:write`. */
    update(
      id: string,
      body: {
        /** Name in this organization */
        name?: string | null;
        /** Role of the member */
        role?:
          | 'owner'
          | 'admin'
          | 'developer'
          | 'editor'
          | 'support'
          | 'analyst'
          | 'sender'
          | 'viewer';
        /** Whether the member may open pages of this organization */
        status?: 'active' | 'disabled';
      },
      options?: RequestOptions,
    ): Promise<Member>;
    /** Delete a member. Ends the sessions of the person in this organization. Keys that the member made stay: `GET /v1/api-keys?createdBy=mem_…` lists them. The last active owner is not deleted: 409. Permission: `members:delete`. */
    delete(
      id: string,
      options?: RequestOptions,
    ): Promise<{
      /** True: the deletion is done */
      success: boolean;
      /** Sentence for people about the deletion */
      message: string;
    }>;
    /** Mail an invitation once more. The earlier link is void, and the new one works for 7 days. An owner can also have a link mailed to a member who was away for 90 days; for any other active or disabled member: 409. Permission: `members:write`. */
    resend(id: string, options?: KeyedOptions): Promise<Member>;
  };
  readonly organizations: {
    /** Show the organization of the key. Permission: `organization:read`. */
    getCurrent(options?: RequestOptions): Promise<Organization>;
    /** Reapply for the email onboarding review. An owner or admin can reapply after a rejection: the review is pending again, with the next generation. `expectedGeneration` is the `onboarding.generation` that was read; a 409 means that the generation has changed, or that the organization is not rejected. Permission: `organization:write`. */
    reapplyForOnboardingReview(
      body: {
        /** Generation of the application; any other generation is a conflict */
        expectedGeneration: number;
        /** Note for the reviewer */
        note?: string;
      },
      options?: KeyedOptions,
    ): Promise<Organization>;
    /** Show the emails sent in a month and their cost. Permission: `organization:read`. */
    getUsage(query?: OrganizationsGetUsageQuery, options?: RequestOptions): Promise<Usage>;
  };
  readonly audit: {
    /** List the changes to an organization, newest first. Lists changes to the organization, its keys, webhooks, domains, senders, blocks and mailboxes, by keys, by the operator and by the service itself. Permission: `organization:read`. */
    list(
      query?: AuditListQuery,
      options?: RequestOptions,
    ): List<{
      /** Items of this page */
      items: Array<AuditEntry>;
      /** Value of `cursor` for the next page; null on the last page */
      nextCursor: string | null;
    }>;
  };
  readonly analytics: {
    /** Show the results of the messages of a time range. `sent` counts the messages accepted in the range. Rates are over attempted mail, each recipient alone: a waiting message does not count. Permission: `analytics:read`. */
    getChannelStats(
      query?: AnalyticsGetChannelStatsQuery,
      options?: RequestOptions,
    ): Promise<ChannelStats>;
    /** Show the mail of a range by day or hour. Permission: `analytics:read`. */
    getTimeseries(
      query?: AnalyticsGetTimeseriesQuery,
      options?: RequestOptions,
    ): Promise<Timeseries>;
    /** Show the results of a range by campaign, template, sender or domain. The figures are those of the channel stats, for each row. Permission: `analytics:read`. */
    getBreakdown(
      query: AnalyticsGetBreakdownQuery,
      options?: RequestOptions,
    ): Promise<BreakdownStats>;
  };
}
