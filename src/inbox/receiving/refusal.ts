// A refusal of received mail as a value: the receive path decides, the listener sends it. Codes as
// in RFC 5321 4.2 and RFC 3463.
export interface InboundRefusal {
  kind: 'refused';
  code: number;
  enhancedCode: string;
  /**
   * Text of the answer. Contains no input of the client, because refusals end up in logs of third
   * parties.
   */
  text: string;
  /** Domain of the refusing policy, for our log only. */
  domain?: string;
}

export function refused(code: number, enhancedCode: string, text: string): InboundRefusal {
  return { kind: 'refused', code, enhancedCode, text };
}
