// A bare TCP connection to the server: for requests that no HTTP client would send.
import { connect, type Socket } from 'node:net';

export interface RawConnection {
  socket: Socket;
  /** Resolves with all received bytes when the service closes the connection. */
  untilClosed(): Promise<string>;
  /** Resolves with all received bytes once they contain the text. */
  untilReceived(text: string): Promise<string>;
  /** Returns the bytes received so far. */
  text(): string;
}

/** Opens a connection and writes the first bytes. */
export function rawConnection(url: string, bytes: string | Buffer = ''): RawConnection {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const received: string[] = [];
  let isClosed = false;
  const watchers = new Set<() => void>();
  const changed = () => {
    for (const watcher of [...watchers]) watcher();
  };
  socket.on('data', (chunk) => {
    received.push(chunk.toString('latin1'));
    changed();
  });
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
  socket.on('close', () => {
    isClosed = true;
    changed();
  });
  socket.write(bytes);
  const until = (condition: () => boolean) =>
    new Promise<string>((resolve, reject) => {
      const watcher = () => {
        if (!condition() && !isClosed) return;
        watchers.delete(watcher);
        if (condition()) resolve(received.join(''));
        else reject(new Error(`closed after: ${received.join('')}`));
      };
      watchers.add(watcher);
      watcher();
    });
  return {
    socket,
    untilClosed: () => until(() => isClosed),
    text: () => received.join(''),
    untilReceived: (text) => until(lookingFor(text, received)),
  };
}

/** Returns a test for `text` in the pieces so far, which reads each piece once. */
function lookingFor(text: string, pieces: readonly string[]): () => boolean {
  let read = 0;
  let end = '';
  let isFound = false;
  return () => {
    for (; read < pieces.length && !isFound; read++) {
      end += pieces[read];
      isFound = end.includes(text);
      end = end.slice(Math.max(0, end.length - text.length + 1));
    }
    return isFound;
  };
}

/** Parses status, headers (in lower case) and body of the first answer in these bytes. */
export function parseAnswer(text: string) {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => {
      const [name = '', ...value] = field.split(': ');
      return [name.toLowerCase(), value.join(': ')];
    }),
  );
  return { status: Number(line.split(' ')[1]), headers, body: rest.join('\r\n\r\n') };
}
