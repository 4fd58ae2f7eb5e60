// Every environment variable that the service reads; `.env.example` is generated from this table.
export const SETTINGS = {
  IQA_HOST: { default: '127.0.0.1', description: 'Address to listen on.' },
  IQA_PORT: { default: '3000', description: 'Port to listen on; 0 takes a free one.' },
  IQA_LOG_LEVEL: { default: 'info', description: 'fatal, error, warn, info, debug, trace or silent.' },
  IQA_SPOOL_DIR: {
    default: '',
    description: "Parent folder of uploaded files; default: the system's temporary folder.",
  },
  IQA_MAX_UPLOAD_BYTES: { default: '25000000', description: 'Largest file accepted, in bytes.' },
  IQA_MAX_PIXELS: { default: '50000000', description: 'Largest image accepted, in pixels.' },
  IQA_SHUTDOWN_GRACE_MS: {
    default: '10000',
    description: 'Time for running requests to finish after SIGTERM, in milliseconds.',
  },
  IQA_CHECKPOINTS: {
    default: '',
    description: 'Checkpoint store: none, sqlite or postgres; default: checkpoints.store in configs/pipeline.yaml.',
  },
  IQA_CHECKPOINTS_DIR: {
    default: '',
    description:
      'Folder of the SQLite file and the images of unfinished runs; default: checkpoints.dir in configs/pipeline.yaml.',
  },
  IQA_CHECKPOINTS_URL: {
    default: '',
    description: 'Postgres address for checkpoints: postgresql://user:password@host:5432/database.',
  },
  IQA_PYTHON: {
    default: '',
    description: "Python (≥ 3.10) for the sidecar's environment; default: python3 on the PATH.",
  },
  IQA_MODELS_DIR: {
    default: '',
    description:
      'Folder of fitted files and networks that replace those of the sidecar; if it does not exist, the tools that need them are unavailable.',
  },
  SIDECAR_URL: {
    default: '',
    description: 'Address of an external sidecar; empty: the service starts its own as a child process.',
  },
  IQA_LICENCES: {
    default: '',
    description: 'Which tools exist: permissive, research or any; default: licences in configs/pipeline.yaml.',
  },
  PYIQA_SIDECAR_URL: {
    default: '',
    description:
      'Address of the optional sidecar with pyiqa; its tools also need "licences: any" in configs/pipeline.yaml.',
  },
  IQA_MODEL_BACKENDS: {
    default: 'configs/model_backends.yaml',
    description: 'Configuration file of the model back ends; a relative path starts at the project root.',
  },
  IQA_BACKEND: {
    default: 'auto',
    description:
      'Default reasoner: a back end of that file, "embedded", or "auto": the first back end whose key is set.',
  },
  IQA_REASONING: {
    default: 'merged',
    description: "merged: few model calls; paper: the paper's five calls in sequence.",
  },
  IQA_VLM_MAX_CALLS: { default: '12', description: 'Maximum model calls of one assessment.' },
  IQA_VLM_MAX_COST_USD: {
    default: '0.5',
    description: 'Maximum cost of the model calls of one assessment, in US dollars; null: no limit.',
  },
  IQA_VLM_LONG_SIDE: { default: '1024', description: 'Longer side, in pixels, of the image that a model receives.' },
  IQA_LOCAL_VLM_URL: {
    default: '',
    description: 'Address of an OpenAI-compatible server (vLLM, Ollama), including /v1; enables qwen2.5-vl-local.',
  },
  OPENAI_API_KEY: { default: '', description: 'Enables the openai back ends; empty counts as unset.' },
  OPENAI_BASE_URL: { default: '', description: "Alternative address of OpenAI's API, including /v1." },
  ANTHROPIC_API_KEY: { default: '', description: 'Enables the anthropic back ends.' },
  ANTHROPIC_BASE_URL: { default: '', description: "Alternative address of Anthropic's API." },
  GOOGLE_API_KEY: { default: '', description: 'Enables the google back ends.' },
  GOOGLE_API_BASE_URL: { default: '', description: "Alternative address of Google's API." },
} as const;
export type SettingName = keyof typeof SETTINGS;
