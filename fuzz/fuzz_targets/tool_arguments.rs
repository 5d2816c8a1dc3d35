//! Arbitrary JSON as the arguments of every tool, backstage ones included: answered or refused with a code, never a panic; a refusal and a
//! tool that only reads leave the graded state as it was.

#![no_main]

use dayshift_engine::{
    Actor, Applying, Canonical, Context, Effect, Frame, MemoryBlobs, Seed, Seq, SimTime, ToolCall, Turn, Value, World,
};
use dayshift_services::Office;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((tool, json)) = bytes.split_first() else { return };
    let Ok(arguments) = serde_json::from_slice::<Value>(json) else { return };
    let tools = Office::tools();
    let spec = tools[usize::from(*tool) % tools.len()];
    let mut office = Office::default();
    let blobs = MemoryBlobs::new();
    let mut canonical = Canonical::default();
    // Twice, so that the second call meets what the first one made.
    for seq in 1..=2 {
        let call = ToolCall::new(spec.name, arguments.clone());
        if spec.admit(&call).is_err() {
            return;
        }
        let frame = Frame::new();
        let context = Context {
            seq: Seq::new(seq),
            time: SimTime::from_millis(1_773_648_000_000),
            actor: &Actor::World,
            turn: Some(Turn::new(1)),
            seed: Seed::new(1),
            frame: &frame,
            blobs: &blobs,
        };
        let before = office.digest();
        match office.decide(&call, &context) {
            Ok(decision) => {
                for event in decision.events {
                    let mut applying = Applying::new(Seq::new(seq), context.time, &Actor::World, None, &mut canonical);
                    office.apply(event, &mut applying);
                }
                assert!(spec.effect == Effect::Writes || office.digest() == before, "{} only reads", spec.name);
            }
            Err(rejection) => assert!(rejection.code.contains('/'), "{rejection}"),
        }
    }
});
