// Causes of a refusal that the text of an SMTP reply reveals, each with a meaning and a remedy:
// faults in the form or the authentication of our mail, and in our account at a relay. The patterns
// are in rules-form.ts, rules-proof.ts and rules-account.ts.

export interface CauseWords {
  /** Meaning, as text after a colon: "mx.example.com refused it for good: …". */
  means: string;
  /** Next step for the sender. `{senderDomain}` is replaced by the domain of From. */
  remedy: string;
}

export const causes = {
  'duplicate-header': {
    means: 'a header field of our mail occurs twice, and may occur once (RFC 5322 3.6)',
    remedy: 'Remove the second field: from `headers` of the send, or from the raw mail.',
  },
  'missing-header': {
    means: 'a header field is missing in our mail, or has no valid value',
    remedy:
      'Give the raw mail the field that the reply names: From, Date and Message-ID are required.',
  },
  'from-form': {
    means: 'From of our mail does not have exactly one address',
    remedy: 'Write one address into From, and a display name without unquoted commas.',
  },
  'header-form': {
    means: 'a header field of our mail does not follow RFC 5322',
    remedy:
      'Look at the header of the raw mail, and correct the field or leave it out of `headers`.',
  },
  'header-charset': {
    means: 'a header field of our mail has characters that it may not have',
    remedy:
      'Write the field in ASCII: addresses and ids allow neither raw characters nor encoded words.',
  },
  'mail-form': {
    means: 'our mail does not follow RFC 5322',
    remedy: 'Look at the raw mail: at doubled or broken header fields first, then at its lines.',
  },
  'mime-form': {
    means: 'the MIME structure of our mail is broken',
    remedy:
      'Check boundaries, Content-Type and transfer encodings of the raw mail (RFC 2045, RFC 2046).',
  },
  'line-too-long': {
    means: 'our mail has a line of more than 998 octets (RFC 5322 2.1.1)',
    remedy:
      'Send it with `text` and `html` instead of raw MIME, or encode the part as quoted-printable or base64.',
  },
  'bare-line-end': {
    means: 'our mail has a CR or LF alone',
    remedy: 'End all lines of the raw mail with CRLF.',
  },
  'date-form': {
    means: 'Date of our mail is invalid, or far from the present',
    remedy: 'Set the clock of the machine that wrote the mail, or leave Date out.',
  },
  'eight-bit': {
    means: 'the server accepts no 8-bit mail',
    remedy: 'Encode the parts of the raw mail as quoted-printable or base64.',
  },
  'duplicate-dkim': {
    means: 'the relay adds a DKIM signature of its own, and refuses ours beside it',
    remedy:
      'Sign once for this relay: set `dkim: [rsa]` in delivery.relay or in the route, or `dkim: []` if the ' +
      'relay signs.',
  },
  'missing-ptr': {
    means: 'our address has no name in reverse DNS, or the name does not lead back to it',
    remedy:
      'Give the sending IP address a PTR record, and its name an A or AAAA record with the same address.',
  },
  'spf-failed': {
    means: 'SPF does not pass',
    remedy:
      'Publish an SPF record for the return path of {senderDomain} that names the sending IP address or relay.',
  },
  'spf-record': {
    means: 'the SPF record has suspicious or invalid entries',
    remedy: 'Correct the SPF record of the return path: no `+all`, no more than 10 look-ups.',
  },
  'dkim-failed': {
    means: 'DKIM does not pass',
    remedy:
      'Publish the DKIM keys of {senderDomain}, and check that no gateway behind the service changes the mail.',
  },
  unauthenticated: {
    means: 'neither SPF nor DKIM passes',
    remedy: 'Publish the SPF and DKIM records of {senderDomain}; `svc domains verify` checks them.',
  },
  'dmarc-policy': {
    means: 'the DMARC policy of the domain of From rejects our mail',
    remedy:
      'Let SPF or DKIM pass with the domain of From (aligned): publish the DKIM keys of {senderDomain}.',
  },
  'dmarc-missing': {
    means: 'the domain of From has no DMARC record',
    remedy: 'Publish a DMARC record at _dmarc.{senderDomain}, at least `v=DMARC1; p=none`.',
  },
  'not-aligned': {
    means: 'From is aligned with neither SPF nor DKIM',
    remedy: 'Sign with the domain of From, or send from an address of the domain that signs.',
  },
  'tls-required': {
    means: 'the server accepts no mail without TLS',
    remedy: 'Allow STARTTLS on the way out: no firewall or proxy may remove it.',
  },
  'null-mx': {
    means: 'the domain of the return path accepts no mail (RFC 7505)',
    remedy: 'Publish an MX record for the return path of {senderDomain} that leads to the service.',
  },
  'unverified-sender': {
    means: 'the relay does not know the sender as verified',
    remedy:
      'Verify {senderDomain} or the address of From at the relay, in the region of its host name. While the ' +
      'account is in a sandbox, the relay also wants the recipients verified.',
  },
  'send-as': {
    means: 'the account at the relay may not send as this address',
    remedy:
      'Give the account the right to send as the address of From, or use the account of that address.',
  },
  'account-paused': {
    means: 'the relay has paused or suspended the account',
    remedy: 'Look at the console of the relay for the reason, and ask it to resume the account.',
  },
  'relay-login': {
    means: 'the relay does not accept our user name and password',
    remedy: 'Correct username and password of the relay, or of the route.',
  },
  'app-password': {
    means: 'the relay wants a password made for this program',
    remedy: 'Make an app password in the account at the relay, and set it as the password.',
  },
  'smtp-auth-disabled': {
    means: 'the account at the relay may not log in by SMTP',
    remedy: 'Enable authenticated SMTP for the mailbox or the whole tenant at the relay.',
  },
  'relay-denied': {
    means: 'the relay does not accept mail from this machine or for this domain',
    remedy: 'Allow the IP address of this machine at the relay, or set username and password.',
  },
  'helo-name': {
    means: 'our name in EHLO is invalid or does not resolve',
    remedy: 'Set delivery.hostname to the public name of the sending IP address.',
  },
} as const satisfies Record<string, CauseWords>;

export type Cause = keyof typeof causes;
