import { download } from '../download';

/** What a browser that cannot write to a file in parts may hold in memory. */
export const HELD_MAX_MB = 50;
const MB = 1_000_000;
/** Texts are joined up to this size before they are written. */
const PART = 250_000;

/** The log is larger than what this browser may hold. */
export class TooLargeToHold extends Error {}

/** Where a file is written. */
interface Sink {
  readonly write: (text: string) => Promise<void>;
  readonly close: () => Promise<void>;
  readonly abort: () => Promise<void>;
}

type Picker = (options: { readonly suggestedName: string }) => Promise<FileSystemFileHandle>;

const picker = (): Picker | undefined =>
  (globalThis as { readonly showSaveFilePicker?: Picker }).showSaveFilePicker?.bind(globalThis);

/** Whether this browser writes a file in parts, so that its size is not limited by memory. */
export const canStream = (): boolean => picker() !== undefined;

/** The file that the user chooses, or one of the downloads; undefined where none was chosen. */
export async function sinkFor(name: string): Promise<Sink | undefined> {
  const pick = picker();
  if (pick === undefined) return heldSink(name);
  try {
    const file = await (await pick({ suggestedName: name })).createWritable();
    return { write: (text) => file.write(text), close: () => file.close(), abort: () => file.abort() };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined;
    throw error;
  }
}

function heldSink(name: string): Sink {
  const parts: string[] = [];
  let size = 0;
  return {
    write: (text) => {
      if ((size += text.length) > HELD_MAX_MB * MB) return Promise.reject(new TooLargeToHold());
      parts.push(text);
      return Promise.resolve();
    },
    close: () => Promise.resolve(download(name, ...parts)),
    abort: () => Promise.resolve(void parts.splice(0)),
  };
}

/** Writes lines as they come. A file that was not written to its end is given up. */
export async function saved(
  sink: Sink,
  lines: AsyncIterable<string>,
  onBytes: (bytes: number) => void,
): Promise<number> {
  let waiting = '';
  let size = 0;
  const flush = async (): Promise<void> => {
    size += waiting.length;
    await sink.write(waiting);
    waiting = '';
    onBytes(size);
  };
  try {
    for await (const line of lines) {
      waiting += `${line}\n`;
      if (waiting.length > PART) await flush();
    }
    await flush();
    await sink.close();
  } catch (error) {
    await sink.abort().catch(() => undefined);
    throw error;
  }
  return size;
}
