"""Chat templates of the bundled models, written for this course in Jinja.

The vocabularies come out of packages that carry no template, or a longer one; these expand a plain
conversation to what the vendor's template gives for it, and leave out tools.
"""

QWEN3 = """\
{%- for message in messages -%}
{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{ '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and enable_thinking is false -%}
{{ '<think>\\n\\n</think>\\n\\n' }}
{%- endif -%}
{%- endif -%}
"""

DEEPSEEK_V4 = """\
{{- bos_token -}}
{%- for message in messages -%}
{%- if message['role'] == 'system' -%}{{ message['content'] }}
{%- elif message['role'] == 'user' -%}{{ '<｜User｜>' + message['content'] }}
{%- else -%}{{ '<｜Assistant｜>' + message['content'] + eos_token }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<｜Assistant｜>' }}{%- endif -%}
"""

MISTRAL_V1 = """\
{{- bos_token -}}
{%- for message in messages -%}
{%- if message['role'] != ('user' if loop.index0 % 2 == 0 else 'assistant') -%}
{{- raise_exception('messages must alternate: user, assistant, user, ... (no system message)') -}}
{%- elif message['role'] == 'user' -%}{{ '[INST] ' + message['content'] + ' [/INST]' }}
{%- else -%}{{ ' ' + message['content'] + eos_token }}
{%- endif -%}
{%- endfor -%}
"""
