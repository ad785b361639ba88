//! The answers of tools in ALX envelopes, as `result`.

use accord_contract::envelope;
use accord_contract::wire::{Message, Object};
use accord_live_core::tools::{
    BlueprintList, ConsumeAnswer, EmitAnswer, GadgetList, HandshakeAnswer, PropsAnswer, PullAnswer,
    RenderAnswer, RenderSource, RuntimeAnswer, SessionDocument, SessionList, ThemeList,
};

use crate::http::Correlation;
use accord_serving::alx_envelope;

/// An answer with an envelope of its own.
pub(super) trait Enveloped: Send + 'static {
    /// The envelope.
    type Envelope: Message;

    /// The answer in its envelope.
    fn envelope(self, correlation: &Correlation) -> Self::Envelope;
}

/// Declares the envelope of each answer.
macro_rules! envelopes {
    ($($(#[doc = $about:literal])+ $name:ident($wire:literal) of $answer:ident;)+) => {
        $(envelope! {
            $(#[doc = $about])+
            pub(crate) struct $name($wire) {
                /// The result of the tool.
                required result: $answer = "result", "answer";
            }
        }

        impl Enveloped for $answer {
            type Envelope = $name;

            fn envelope(self, correlation: &Correlation) -> $name {
                alx_envelope!(correlation, $name { result: self })
            }
        })+
    };
}

envelopes! {
    /// A handshake.
    GguiHandshakeEnvelope("GguiHandshakeEnvelope") of HandshakeAnswer;
    /// What changing the props did.
    GguiPropsEnvelope("GguiPropsEnvelope") of PropsAnswer;
    /// The events that an agent took.
    GguiConsumeEnvelope("GguiConsumeEnvelope") of ConsumeAnswer;
    /// A frame that was sent.
    GguiEmitEnvelope("GguiEmitEnvelope") of EmitAnswer;
    /// A session.
    GguiSessionEnvelope("GguiSessionEnvelope") of SessionDocument;
    /// The sessions of a project.
    GguiSessionListEnvelope("GguiSessionListEnvelope") of SessionList;
    /// The code and the contract of a UI.
    GguiRenderSourceEnvelope("GguiRenderSourceEnvelope") of RenderSource;
    /// The UIs that can be rendered again.
    GguiBlueprintListEnvelope("GguiBlueprintListEnvelope") of BlueprintList;
    /// The gadgets that a contract can use.
    GguiGadgetListEnvelope("GguiGadgetListEnvelope") of GadgetList;
    /// The themes that a render can name.
    GguiThemeListEnvelope("GguiThemeListEnvelope") of ThemeList;
    /// A page of the ledger, or why there is none.
    GguiPullEnvelope("GguiPullEnvelope") of PullAnswer;
    /// What a tool of pages did.
    GguiRuntimeEnvelope("GguiRuntimeEnvelope") of RuntimeAnswer;
}

envelope! {
    /// A UI that was rendered.
    pub(crate) struct GguiRenderEnvelope("GguiRenderEnvelope") {
        /// The result of the tool.
        required result: RenderAnswer = "result", "answer";
        /// The address of the page on which a person answers, if the server has one.
        optional page_url: String = "page_url", "url";
        /// What a host mounts: the document `ai.ggui/render`, if the UI can be mounted.
        optional slice: Object = "slice", "ggui-slice";
    }
}

envelope! {
    /// What a host mounts.
    pub(crate) struct GguiMountEnvelope("GguiMountEnvelope") {
        /// The document `ai.ggui/render`.
        required slice: Object = "slice", "ggui-slice";
        /// What the session is for.
        required title: String = "title", "text";
        /// The address of the page on which a person answers, if the server has one.
        optional page_url: String = "page_url", "url";
    }
}

/// A UI that was rendered, and how a person and a host get to it.
pub(super) struct RenderedUi {
    pub(super) answer: RenderAnswer,
    pub(super) page_url: Option<String>,
    pub(super) slice: Option<Object>,
}

impl Enveloped for RenderedUi {
    type Envelope = GguiRenderEnvelope;

    fn envelope(self, correlation: &Correlation) -> GguiRenderEnvelope {
        let Self { answer, page_url, slice } = self;
        alx_envelope!(correlation, GguiRenderEnvelope { result: answer, page_url, slice })
    }
}
