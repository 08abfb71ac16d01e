// A reply that is already whole, in the shape of a `Response`. The SDK reads a handful of members; a real `Response`
// would build web streams for them, which is most of what the SDK's default transport costs.

const JSON_HEADERS = new Headers({ 'content-type': 'application/json' });

export class BufferedResponse implements Response {
  readonly headers = JSON_HEADERS;
  readonly status: number;
  readonly url: string;
  readonly statusText = '';
  readonly redirected = false;
  readonly type = 'basic';
  readonly body = null;
  readonly bodyUsed = false;
  #text: string;

  constructor(url: string, status: number, text: string) {
    this.url = url;
    this.status = status;
    this.#text = text;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  async text(): Promise<string> {
    return this.#text;
  }

  async json(): Promise<unknown> {
    return JSON.parse(this.#text);
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new TextEncoder().encode(this.#text);
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer;
  }

  async blob(): Promise<Blob> {
    return new Blob([this.#text]);
  }

  formData(): Promise<FormData> {
    return Promise.reject(new TypeError('A buffered reply has no form data'));
  }

  clone(): Response {
    return new BufferedResponse(this.url, this.status, this.#text);
  }
}
