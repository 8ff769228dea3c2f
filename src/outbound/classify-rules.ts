// The one refusal whose words decide between bounced and deferred (RFC 5321 4.5.3.1.10). What all
// other words mean is in the tables reply-rules-*.ts.

/** A 5yz at RCPT that only says: not so many at once. */
export const tooManyRecipients = /too many (?:recipients|rcpt)/i;
