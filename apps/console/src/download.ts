/** Gives a file to the user. */
export function download(name: string, ...parts: (string | Blob)[]): void {
  const address = URL.createObjectURL(new Blob(parts));
  const link = document.createElement('a');
  Object.assign(link, { href: address, download: name });
  link.click();
  URL.revokeObjectURL(address);
}
