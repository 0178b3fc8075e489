/** What a language model is asked. The content is sent as it is. */
export interface ChatRequest {
  readonly content: string;
  readonly timeout_ms: number;
  readonly signal: AbortSignal;
  /** More answer than this is refused. */
  readonly most_bytes: number;
}

interface ChatReply {
  readonly text: string;
}

/** One configured model. Failures are PROVIDER_FAILED or PROVIDER_TIMEOUT and never carry a key. */
export interface ChatModel {
  complete(request: ChatRequest): Promise<ChatReply>;
}

/** The models a product can reach. */
export interface ChatModels {
  ollama(settings: { readonly base_url: string; readonly model: string }): ChatModel;
  openai(settings: { readonly base_url: string; readonly model: string; readonly api_key: string | null }): ChatModel;
}
